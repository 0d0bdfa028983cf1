import { isIP } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { operationNames, operations, type OperationName } from '../contract/index.js';
import type { Operation } from '../contract/operation.js';
import { REFERENCE_PATTERN } from '../contract/sending.js';
import type { CardDepositRequest } from '../contract/deposit.js';
import type { Database } from './database.js';
import type { Answers } from './answers.js';
import { createExchange, type Committed, type Exchange } from './exchange.js';
import type { Executions } from './ledger.js';
import type { Handler, Handlers } from './handler.js';
import { noSuchName, Refusal, badMembers } from './refusal.js';
import type { Scheduler } from './scheduler.js';
import { validate } from './validate.js';
import { withoutCard } from './deposit/methods.js';
import type { SandboxLogger } from './logger.js';

type AnyHandler = Handler<OperationName>;
type AnyCall = Parameters<AnyHandler>[0];

/** The first read of a KYC record begins its lifecycle. */
const WRITING_READS: ReadonlySet<string> = new Set<OperationName>(['getKycStatus']);

/** Makes a route of every operation of the contract: authenticate, validate, handle, answer. */
export function addOperationRoutes(
  server: FastifyInstance,
  deps: {
    handlers: Handlers;
    authenticate: (authorization: string | undefined) => void;
    database: Database;
    executions: Pick<Executions, 'count'>;
    scheduler: Pick<Scheduler, 'runNow'>;
    answers: Answers;
    /** Answers a request, honestly or not. */
    respond: (exchange: Exchange) => Promise<void>;
  },
): void {
  const { handlers, authenticate, database, executions, scheduler, answers, respond } = deps;

  function commitOf(operation: Operation, handler: AnyHandler, call: AnyCall): Exchange['commit'] {
    return async (note) => {
      const work = (): Committed => {
        const before = executions.count();
        const outcome = handler(call);
        const committed = { outcome, executed: executions.count() > before };
        note?.(committed);
        return committed;
      };
      try {
        const readOnly = operation.effect === 'read' && note === undefined && !WRITING_READS.has(operation.name);
        const committed = readOnly ? work() : await database.write(work);
        if (!(committed.outcome instanceof Refusal)) {
          await Promise.all((committed.outcome.early ?? []).map((job) => scheduler.runNow(job)));
        }
        return committed;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const committed = { outcome: error, executed: false };
        if (note !== undefined) await database.write(() => note(committed));
        return committed;
      }
    };
  }

  for (const name of operationNames) {
    const operation: Operation = operations[name];
    const handler = handlers[name];
    server.route({
      method: operation.method,
      url: operation.path.replace(/\{(\w+)\}/, ':$1'),
      async handler(request: FastifyRequest, reply: FastifyReply) {
        if (operation.auth === 'bearer') authenticate(request.headers.authorization);
        const param = operation.param ? ((request.params as Record<string, string>)[operation.param] ?? '') : '';
        // The first read of a KYC record would make one from any text.
        if (operation.param && !REFERENCE_PATTERN.test(param)) throw noSuchName();
        const body = operation.body && redactCard(name, validate(operation.body, request.body));
        const call = { body, param } as AnyCall;
        await respond(
          createExchange({
            operation,
            reference: referenceOf(operation, body, param),
            request,
            reply,
            call,
            answers,
            commit: commitOf(operation, handler, call),
          }),
        );
        return reply;
      },
    });
  }
}

/** The caller's reference, wherever the operation has it; empty if it has none. */
function referenceOf(operation: Operation, body: unknown, param: string): string {
  if (param !== '') return param;
  const members = (body ?? {}) as Record<string, unknown>;
  const reference = members[operation.reference ?? 'provider_reference_id'];
  return typeof reference === 'string' ? reference : '';
}

/**
 * A request's body without what must never be stored. Everything after the validation sees only this, so that no job,
 * fault log, execution or record can hold a card.
 */
const redactCard = (operation: OperationName, body: unknown): unknown =>
  operation === 'createCardDeposit' ? withoutCard(body as CardDepositRequest) : body;

const MAX_BODY_BYTES = 64 * 1024;
/** The longest reference. Fastify's own limit is 100: a payment under a longer one could not be looked up. */
const MAX_PARAM_LENGTH = 128;

/** Names other than `localhost` may resolve to anything. */
export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/** With the names by which containers call this machine. */
const OWN_NAME = /^((.+\.)?localhost|(host|gateway)\.docker\.internal|host\.containers\.internal)$/i;
const FOR_THIS_MACHINE =
  'The sandbox listens on this machine alone, so it only answers requests to a name of it, such as 127.0.0.1 or ' +
  'localhost: any other one may belong to a web page';

/** An HTTP server whose every error has the body of the service's errors. */
export function createServer(deps: {
  logger: SandboxLogger;
  /** The body of a refusal at this path. */
  bodyOf: (refusal: Refusal, path: string) => object;
  /** Refuses requests to any other name than this machine's. */
  forThisMachine: boolean;
}): FastifyInstance {
  const server = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  });

  // A web page whose name is made to resolve to this machine (DNS rebinding) could control a sandbox without a password.
  if (deps.forThisMachine) {
    server.addHook('onRequest', (request, _reply, next) => {
      const name = (request.headers.host ?? 'localhost').replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
      next(isLoopback(name) || OWN_NAME.test(name) ? undefined : new Refusal(421, 'MISDIRECTED', FOR_THIS_MACHINE));
    });
  }

  // A POST that needs no body may declare JSON and send nothing.
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    if (text === '') done(null, undefined);
    else void parse(request, text as string, done);
  });

  server.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const refusal = asRefusal(error);
    if (refusal.status >= 500 && !(error instanceof Refusal)) {
      deps.logger.error({ error: error.stack ?? error.message }, 'a request failed');
    }
    return reply
      .code(refusal.status)
      .headers(refusal.details.headers ?? {})
      .send(deps.bodyOf(refusal, request.url));
  });
  server.setNotFoundHandler((request) => {
    throw new Refusal(404, 'NOT_FOUND', `${request.method} ${request.url} does not exist`);
  });
  return server;
}

function asRefusal(error: Error & { statusCode?: number; code?: string }): Refusal {
  if (error instanceof Refusal) return error;
  const status = error.statusCode ?? 500;
  if (status >= 500) return new Refusal(500, 'INTERNAL_ERROR', 'Internal server error');
  if (status === 400) return badMembers([{ path: '', message: error.message }], 'The body is not JSON');
  return new Refusal(status, error.code ?? 'BAD_REQUEST', error.message);
}

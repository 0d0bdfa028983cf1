import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations, operationNames, type MoneyOperationName, type OperationName } from '../../contract/index.js';
import type { Effect, Operation } from '../../contract/operation.js';
import type { GatewayToken } from '../../config/gateway-tokens.js';
import { DEVELOPMENT_SERVICE_TOKEN } from '../../config/settings.js';
import type { Settings } from '../../config/settings-shape.js';
import type { Permission } from '../../protocol/permissions.js';
import { withCardTaken } from '../cards/take-card.js';
import { type Caller, whoIs } from '../http/bearer-token.js';
import { bodyOf } from '../http/json-body.js';
import { errorForLog, Refusal } from '../http/refusal.js';
import { parseBody } from '../http/flow-path.js';
import type { ProxyDeps } from './deps.js';
import { describeThroughGateway } from './describe.js';
import type { ReadName } from '../../flows/service-interface.js';
import { checkedBody, moneyRequest } from './money-request.js';
import { passOn, readingOf, readThrough, requireTheirRecord } from './read-through.js';
import { createPayOrders } from './pay-orders.js';
import { relay } from './relay.js';
import { payInvoice } from './pay-invoice.js';
import { quoteThrough } from './quotes.js';
import { createServiceReads } from './service-reads.js';
import { sendMoney, sentReference, withReference } from './send-money.js';

const PERMISSION_FOR: Readonly<Record<Effect, Permission>> = {
  read: 'read-service',
  quote: 'start',
  money: 'start',
  report: 'start',
  account: 'account',
};

type ProxyRoomDeps = Omit<ProxyDeps, 'reads' | 'recordPayOrder' | 'newReference'>;

type Handle = (request: FastifyRequest, reply: FastifyReply, caller: Caller) => Promise<FastifyReply>;

/**
 * The service's own interface: every operation of the contract at its own path, with its own envelope. Only the report
 * of a settlement is a separate endpoint (`inbound`): the settlement provider posts to it, without a token.
 */
export async function proxy(server: FastifyInstance, given: ProxyRoomDeps): Promise<void> {
  const { service, store, monotonicMs } = given;
  const deps: ProxyDeps = {
    ...given,
    reads: createServiceReads(service, monotonicMs),
    recordPayOrder: createPayOrders(store.audit),
    newReference: () => `tw-${randomUUID()}`,
  };
  const tokens = () => serviceTokens(deps);
  for (const name of operationNames) {
    const operation: Operation = operations[name];
    if (operation.effect === 'report') continue;
    const handle = handlerOf(deps, name, operation);
    const permission = PERMISSION_FOR[operation.effect];
    server.route({
      method: operation.method,
      // A HEAD request would also make an API key.
      exposeHeadRoute: false,
      url: operation.path.replace(/\{(\w+)\}/, ':$1'),
      config: { permission, callers: { tokens }, reference: () => describeThroughGateway(operation) },
      handler: (request, reply) => handle(request, reply, request.caller),
    });
  }
}

function handlerOf(deps: ProxyDeps, name: OperationName, operation: Operation): Handle {
  const { effect, body: schema, param } = operation;
  switch (effect) {
    case 'money':
      return (request, reply, caller) => money(deps, name as MoneyOperationName, { request, reply, caller });
    case 'quote':
      return async (request, reply, caller) =>
        quoteThrough(deps, caller, parseBody(schema as never, await bodyOf(request).read()), reply);
    case 'read':
      return async (request, reply, caller) => {
        const reference = paramOf(request, param);
        await requireTheirRecord(deps, caller, name as ReadName, reference);
        const record = () => deps.readings.record(caller, readingOf(name as ReadName, reference));
        return readThrough(deps, caller, { name: name as ReadName, reference, record }, reply);
      };
    case 'account':
    case 'report':
      // Once: a repetition would make another key, or another account.
      return async (request, reply, caller) => {
        const body = schema === undefined ? undefined : await bodyOf(request).read();
        await deps.store.audit.append({ ...whoIs(caller), kind: 'account', action: name });
        if (name === 'updateWebhook') refuseNewSecret(deps.settings, body);
        return passOn(reply, await relay(deps, name, body));
      };
    default:
      return effect satisfies never;
  }
}

interface MoneyPost {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly caller: Caller;
}

async function money(deps: ProxyDeps, name: MoneyOperationName, post: MoneyPost): Promise<FastifyReply> {
  const value = await bodyOf(post.request).read();
  const prefix = deps.settings.referencePrefixes.get(post.caller.name) ?? '';
  const sent = sentReference(name, value, () => prefix + deps.newReference());
  try {
    await submit(deps, name, checkedBody(name, value, sent), post);
    return post.reply;
  } catch (error) {
    if (!(error instanceof Refusal)) {
      const line = {
        requestId: post.request.id,
        flowId: post.request.flowId,
        operation: name,
        reference: sent.reference,
        error: errorForLog(error),
      };
      deps.logger.error(line, 'money request outcome unknown; its caller was given its reference');
    }
    throw withReference(error, sent);
  }
}

async function submit(
  deps: ProxyDeps,
  name: MoneyOperationName,
  body: Readonly<Record<string, unknown>>,
  { reply, caller }: MoneyPost,
): Promise<void> {
  const requestOf = async (taken: Readonly<Record<string, unknown>>) => {
    const made = await moneyRequest(deps, caller, name, taken);
    reply.request.flowId = made.address.flowId;
    return made;
  };
  if (name === 'payInvoice') await payInvoice(deps, await requestOf(body), reply, caller);
  else if (name === 'createCardDeposit') {
    // The card leaves the body before anything that starts flows sees it.
    await withCardTaken({ cards: deps.cards, owner: caller.name }, body, async (taken) =>
      sendMoney(deps, caller, await requestOf(taken as Record<string, unknown>), reply),
    );
  } else await sendMoney(deps, caller, await requestOf(body), reply);
}

function paramOf(request: FastifyRequest, param: string | undefined): string {
  return String((request.params as Record<string, unknown>)[param ?? '']);
}

/** The name in records of a caller with the service's own token. */
const NAME = 'service-token';

/** The service token, which an existing integration already sends: it has the permissions of the role `flows`. */
async function serviceTokens({
  service,
  settings,
}: Pick<ProxyDeps, 'service' | 'settings'>): Promise<readonly GatewayToken[]> {
  const secret = await service.token().catch(() => undefined);
  // The sandbox's token is public, and is not accepted outside of development.
  const isPublic = secret === DEVELOPMENT_SERVICE_TOKEN && !settings.development;
  return secret === undefined || secret === '' || isPublic ? [] : [{ name: NAME, role: 'flows', secret }];
}

/**
 * If only the service knew a new webhook secret, every event would have a wrong signature. The command line gives a new
 * secret to the gateways first. With `WEBHOOK_PROFILE=unsigned` signatures are not checked.
 *
 * @throws Refusal 400
 */
function refuseNewSecret({ webhookProfile }: Pick<Settings, 'webhookProfile'>, update: unknown): void {
  const isGiven = typeof update === 'object' && update !== null && 'webhook_secret' in update;
  if (!isGiven || webhookProfile === 'unsigned') return;
  const message = 'must not be changed here, since the gateways would not know it and refuse all events';
  throw new Refusal(
    400,
    'Change the webhook secret with "towline account webhook", which the gateways follow. Nothing was sent.',
    { errors: [{ path: 'webhook_secret', message }] },
  );
}

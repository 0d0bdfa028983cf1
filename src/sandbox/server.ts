import Fastify, { type FastifyInstance } from 'fastify';
import type { SandboxLogger } from './options.js';
import { badMembers, Refusal } from './refusal.js';

const MAX_BODY_BYTES = 64 * 1024;
/** The longest reference. Fastify's own limit is 100: a payment under a longer one could not be looked up. */
const MAX_PARAM_LENGTH = 128;

/** An HTTP server whose every error has the body of the service's errors. */
export function createServer(deps: {
  logger: SandboxLogger;
  /** The body of a refusal at this path. */
  bodyOf: (refusal: Refusal, path: string) => object;
}): FastifyInstance {
  const server = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
  });

  // A POST that needs no body may say that it is JSON and send nothing.
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

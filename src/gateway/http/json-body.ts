import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readJson, UnreadableJsonError } from './read-json.js';
import { Refusal } from './refusal.js';
import { createTurns } from './turns.js';

/** A body as it came, for signatures, and as it reads. */
export interface JsonBody {
  readonly raw: Buffer;
  readonly value: unknown;
}

/** Read at once. The largest bodies, full of keys, take ten milliseconds and more to read, and several come together. */
const SMALL_BYTES = 8 * 1_024;

/** Makes `request.body` a `JsonBody` and refuses every content type but JSON and every content encoding. */
export function takeJsonBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  const inTurn = createTurns();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, raw: Buffer, done) => {
    const read = (): void => {
      try {
        done(null, { raw, value: readJson(raw) } satisfies JsonBody);
      } catch (error) {
        done(error instanceof UnreadableJsonError ? new Refusal(400, error.message) : (error as Error));
      }
    };
    if (raw.length <= SMALL_BYTES) read();
    else inTurn(read);
  });
  server.addHook('onRequest', (request, _reply, next) => {
    const encoding = request.headers['content-encoding'];
    const isPlain = encoding === undefined || encoding.toLowerCase() === 'identity';
    next(isPlain ? undefined : new Refusal(415, 'Send the body without content encoding.'));
  });
}

/** @throws Refusal where there is no body */
export function bodyOf(request: FastifyRequest): JsonBody {
  const body = request.body as JsonBody | undefined | null;
  if (body === undefined || body === null) throw new Refusal(400, 'Send a JSON body.');
  return body;
}

/** For operations that need no body: an empty object in its place. */
export function bodyOrEmpty(request: FastifyRequest): unknown {
  const body = request.body as JsonBody | undefined | null;
  return body === undefined || body === null ? {} : body.value;
}

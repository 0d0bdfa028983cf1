import type { Payload } from '@temporalio/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Settings } from '../../config/settings-shape.js';
import type { Store } from '../../store/store.js';
import { type Caller, whoIs } from '../http/bearer-token.js';
import { bodyOf } from '../http/json-body.js';
import { Refusal } from '../http/refusal.js';
import { parseBody } from '../http/flow-path.js';
import { createPlaces, whenOver } from '../http/places.js';

/** The part of `createPayloadCodec` that the codec server needs. */
export interface PeopleCodec {
  encode(payloads: Payload[]): Promise<Payload[]>;
  decodeForPeople(payloads: Payload[]): Promise<Payload[]>;
}

export interface CodecRoutesDeps {
  readonly codec: PeopleCodec;
  readonly store: Pick<Store, 'audit'>;
  readonly settings: Pick<Settings, 'development'>;
  readonly monotonicMs: () => number;
  /** The Temporal UI's origin, exactly: `http://127.0.0.1:8233`. Undefined: no browser may read the answers. */
  readonly uiOrigin?: string | undefined;
}

/** In development it is identified by its origin alone. */
const UI_OF_DEVELOPMENT: Caller = { name: 'Temporal UI', role: 'operator', means: 'ui-origin' };
/** A page of the UI sends a part of a history at once, of which Temporal gives 4 MiB at most: in base64 that is less than this. */
const BODY_LIMIT_BYTES = 6 * 1_024 * 1_024;
/** A thousand payloads, with their metadata. */
const MOST_VALUES = 20_000;
/** A body takes several times its size of memory while it is read, decrypted and answered. */
const UNIT_BYTES = 16 * 1_024;
/** 16 MiB of bodies, a quarter of it for one caller. */
const PLACES = { what: 'payloads for the codec', most: 1_024 };
const OF_CALLER = 256;
const PREFLIGHT_SECONDS = 600;

/**
 * Temporal's codec server: decrypts for people. On loopback in development the UI's exact origin suffices, because the
 * UI passes no token over plain http; everywhere else an operator's token is needed, and to encode an admin's. Behind a login the UI sends the
 * tokens of its own issuer.
 */
export async function codec(server: FastifyInstance, deps: CodecRoutesDeps): Promise<void> {
  const fromUi = (request: FastifyRequest) => deps.uiOrigin !== undefined && request.headers.origin === deps.uiOrigin;

  const allowUi = (request: FastifyRequest, reply: FastifyReply): void => {
    void reply.header('vary', 'origin');
    if (fromUi(request)) void reply.header('access-control-allow-origin', request.headers.origin);
  };

  server.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS') refuseBody(request);
    allowUi(request, reply);
  });
  const places = createPlaces(PLACES);
  /** Before the body is read. Without a length it counts as the largest one. */
  const admit = async (request: FastifyRequest): Promise<void> => {
    const bytes = Math.min(BODY_LIMIT_BYTES, Number(request.headers['content-length'] ?? Infinity));
    const units = Math.max(1, Math.ceil(bytes / UNIT_BYTES));
    whenOver(request, places.take({ [request.caller.name]: OF_CALLER }, { units }).free);
  };
  const withoutToken = (request: FastifyRequest): Caller | undefined => {
    const isOpen = deps.settings.development && fromUi(request) && request.headers.authorization === undefined;
    return isOpen ? UI_OF_DEVELOPMENT : undefined;
  };

  const recordLook = createLooks(deps);
  const operations = [
    {
      name: 'encode',
      permission: 'encode',
      carryOut: async (payloads: Payload[], caller: Caller) => {
        await deps.store.audit.append({ ...whoIs(caller), kind: 'encode', details: { payloads: payloads.length } });
        return deps.codec.encode(payloads);
      },
    },
    {
      name: 'decode',
      permission: 'codec',
      carryOut: async (payloads: Payload[], caller: Caller) => {
        await recordLook(caller, payloads.length);
        return deps.codec.decodeForPeople(payloads);
      },
    },
  ] as const;
  for (const { name, permission, carryOut } of operations) {
    server.options(`/codec/${name}`, async (request, reply) => {
      if (fromUi(request)) {
        void reply.headers({
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'authorization, authorization-extras, caller-type, content-type, x-namespace',
          'access-control-max-age': PREFLIGHT_SECONDS,
        });
      }
      return reply.code(204).send();
    });
    const callers = { isToDecode: permission === 'codec', withoutToken };
    const options = { bodyLimit: BODY_LIMIT_BYTES, onRequest: admit, config: { permission, callers } };
    server.post(`/codec/${name}`, options, async (request) => {
      const payloads = payloadsOf(parseBody(PayloadsJson, await bodyOf(request).read({ mostValues: MOST_VALUES })));
      return payloadsJson(await carryOut(payloads, request.caller));
    });
  }
}

/** A page of the UI asks some nine times while it is opened, and again as the person goes through it. */
const LOOK_MS = 60_000;

/**
 * One entry of the audit log for each look of a name: nine for one page would hide what matters. What was decoded after
 * the first request of a look is counted in the entry of the next one.
 */
function createLooks({ store, monotonicMs }: Pick<CodecRoutesDeps, 'store' | 'monotonicMs'>) {
  const looks = new Map<string, { readonly atMs: number; readonly recorded: Promise<unknown>; more: number }>();
  return async (caller: Caller, payloads: number): Promise<void> => {
    const before = looks.get(caller.name);
    const now = monotonicMs();
    if (before !== undefined && now - before.atMs < LOOK_MS) {
      before.more += payloads;
      // Nothing is shown before the look is recorded.
      await before.recorded;
      return;
    }
    const more = before === undefined || before.more === 0 ? {} : { moreInTheLookBefore: before.more };
    const recorded = store.audit.append({ ...whoIs(caller), kind: 'decode', details: { payloads, ...more } });
    looks.set(caller.name, { atMs: now, recorded, more: 0 });
    await recorded.catch((error: unknown) => {
      looks.delete(caller.name);
      throw error;
    });
  };
}

/** Before it is read: anyone may send it, and it would be held until it is complete. */
function refuseBody({ headers }: FastifyRequest): void {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
  if (hasBody) throw new Refusal(413, 'This path takes no body.');
}

/** Payloads as the codec server protocol writes them: proto JSON, bytes in base64. */
const base64 = () => z.string().regex(/^[A-Za-z0-9+/_-]*={0,2}$/, 'is not base64');
const PayloadJson = z.object({
  metadata: z.record(z.string(), base64()).nullish(),
  data: base64().nullish(),
});
const PayloadsJson = z.object({ payloads: z.array(PayloadJson).max(1_000).default([]) });
type PayloadsJson = z.infer<typeof PayloadsJson>;

function payloadsOf({ payloads }: PayloadsJson): Payload[] {
  return payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, text]) => [name, bytes(text)])),
    data: bytes(data ?? ''),
  }));
}

function payloadsJson(payloads: readonly Payload[]): { payloads: object[] } {
  const shown = payloads.map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)])),
    data: text(data ?? new Uint8Array()),
  }));
  return { payloads: shown };
}

function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}

function text(value: Uint8Array): string {
  return Buffer.from(value).toString('base64');
}

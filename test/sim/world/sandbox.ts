import { operations } from '../../../src/contract/index.js';
import { openSandbox, type OpenSandbox } from '../../../src/sandbox/sandbox.js';
import type { RepeatMode } from '../../../src/sandbox/settings.js';
import type { PostAnswer } from '../../../src/sandbox/deliveries/deliver.js';
import type { Timeline } from '../core/timeline.js';
import type { WireRequest } from './wire.js';

export const TOKEN = 'sim-service-token';
export const SERVICE_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
export const PROVIDER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
export const GATEWAY_URL = 'http://gateway.sim';

export interface SimSandbox {
  request(request: Pick<WireRequest, 'operation' | 'path' | 'body' | 'token'>): Promise<ServiceAnswer>;
  control(method: 'GET' | 'POST', path: string, body?: unknown): Promise<unknown>;
  all(sql: string, ...params: (string | number)[]): readonly Record<string, unknown>[];
  /** Grows with everything that the service may have written. */
  readonly writes: number;
}

interface ServiceAnswer {
  readonly httpStatus: number;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type Post = (url: string, body: string, headers: Readonly<Record<string, string>>) => Promise<PostAnswer>;

/** What the one sandbox of this process works with at the moment. */
interface Present {
  timeline: Timeline;
  post: Post;
  ids: number;
  writes: number;
}

export interface SandboxSettings {
  readonly repeatMode: RepeatMode;
  readonly stepMs: number;
  readonly webhooks: string | null;
  /** It serves what the live service has beyond the interface. */
  readonly isLive: boolean;
}

let shared: { readonly sandbox: OpenSandbox; readonly present: Present } | undefined;

/** Opening one takes longer than most runs: they share it, each after a reset. */
export async function takeSandbox(timeline: Timeline, post: Post, settings: SandboxSettings): Promise<SimSandbox> {
  shared ??= open({ timeline, post, ids: 0, writes: 0 });
  const { sandbox, present } = shared;
  Object.assign(present, { timeline, post, ids: 0 });
  const simulated: SimSandbox = {
    async request({ operation, path, body, token }) {
      const answer = await sandbox.server.inject({
        method: operation.method,
        url: path,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { payload: body }),
      });
      const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
      return { httpStatus: answer.statusCode, text: answer.payload, headers: Object.fromEntries(headers) };
    },
    async control(method, path, body) {
      const answer = await sandbox.server.inject({
        method,
        url: `/_sandbox${path}`,
        ...(body === undefined ? {} : { payload: body as object }),
      });
      if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.payload}`);
      return JSON.parse(answer.payload) as unknown;
    },
    all: (sql, ...params) => sandbox.database.all<Record<string, unknown>>(sql, ...params),
    get writes() {
      return present.writes;
    },
  };
  await simulated.control('POST', '/reset', {});
  const { repeatMode, stepMs, webhooks, isLive } = settings;
  await simulated.control('POST', '/settings', {
    repeatMode,
    stepMs,
    lateMs: 2 * 3_600_000,
    callbackSecret: SERVICE_SECRET,
    liveOperations: isLive,
    ...(webhooks === null ? {} : { webhookUrl: webhooks, webhookSecret: SERVICE_SECRET }),
  });
  return simulated;
}

function open(present: Present) {
  const sandbox = openSandbox({
    dbPath: ':memory:',
    durable: false,
    token: TOKEN,
    settlementUrl: `${GATEWAY_URL}${operations.reportSettlement.path}`,
    settlementSecret: PROVIDER_SECRET,
    callbackSecret: SERVICE_SECRET,
    wallNow: () => present.timeline.nowMs,
    createId: () => `00000000-0000-4000-8000-${String((present.ids += 1)).padStart(12, '0')}`,
    timers: {
      after(ms, work) {
        const planned = present.timeline.in(ms, work, true);
        return () => planned.cancel();
      },
      soon(work) {
        present.timeline.noteActivity();
        const immediate = setImmediate(() => {
          present.timeline.noteActivity();
          present.writes += 1;
          work();
        });
        return () => clearImmediate(immediate);
      },
    },
    transport: { post: (url, body, headers) => present.post(url, body, headers), close() {} },
  });
  sandbox.begin('http://service.sim');
  return { sandbox, present };
}

import type { PostAnswer } from '../../../src/sandbox/deliveries/deliver.js';
import type { Chance } from '../core/chance.js';
import type { Timeline } from '../core/timeline.js';
import type { Trace } from '../core/trace.js';
import type { SimGateway } from './gateway.js';
import { PROFILES } from '../../../src/sandbox/deliveries/signing.js';
import { PROVIDER_SECRET, SERVICE_SECRET, type Post } from './sandbox.js';
import type { Weather } from './weather.js';

/** One arrival at a gateway, written down before it is handed over. */
export interface Delivered {
  readonly id: number;
  readonly atMs: number;
  readonly path: string;
  readonly body: string;
  readonly isForged: boolean;
  /** Undefined while the gateway has not answered. */
  httpStatus: number | undefined;
  /** When the gateway answered. */
  answeredAtMs?: number;
}

export interface Deliveries {
  readonly post: Post;
  /** A post that anyone on the Internet may make. */
  forge(path: string, body: unknown): void;
  readonly journal: readonly Delivered[];
  /** Ends what still waits for an answer. */
  end(): void;
}

/** The way from the service and its settlement provider to the gateways: webhooks are lost, late, doubled, reordered. */
export function createDeliveries(deps: {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly chance: Chance;
  readonly weather: Weather;
  readonly gateways: () => readonly SimGateway[];
}): Deliveries {
  const { timeline, trace, chance, weather, gateways } = deps;
  const journal: Delivered[] = [];
  const open = new Set<(error: Error) => void>();

  /** One copy into one gateway; rejects if none answers. */
  async function handOver(url: string, body: string, headers: Readonly<Record<string, string>>, isForged: boolean) {
    const alive = gateways().filter(({ process }) => process.isAlive && !process.isStopped);
    if (alive.length === 0) throw new Error('ECONNREFUSED');
    const { server, process } = chance.one(alive);
    const path = new URL(url).pathname;
    const entry: Delivered = { id: journal.length, atMs: timeline.nowMs, path, body, isForged, httpStatus: undefined };
    journal.push(entry);
    const answered = server.inject({ method: 'POST', url: path, headers: { 'content-type': 'application/json', ...headers }, payload: body }); // prettier-ignore
    const dead = new Promise<never>((_, reject) => process.whenDead(() => reject(new Error('ECONNRESET'))));
    dead.catch(() => undefined);
    const { statusCode } = await Promise.race([answered, dead]);
    entry.httpStatus = statusCode;
    entry.answeredAtMs = timeline.nowMs;
    trace.add(process.name, `receives #${entry.id} ${shortened(path)} ${wordIn(body)}`, String(statusCode));
    return { status: statusCode, text: '' };
  }

  function deliver(url: string, whole: string, signed: Headers): Promise<PostAnswer> {
    const { body, headers } = weather.bareFailures && wordIn(whole) === 'FAILED' ? bare(url, whole, signed) : { body: whole, headers: signed }; // prettier-ignore
    return new Promise<PostAnswer>((resolve, reject) => {
      open.add(reject);
      const fault = chance.yes(weather.delivery)
        ? chance.one(['lost', 'answer-lost', 'twice', 'delayed', 'delayed'] as const)
        : 'none';
      if (fault !== 'none') trace.fault(`delivery ${fault}`);
      const done = (settle: () => void): void => {
        open.delete(reject);
        timeline.in(1, settle, true);
      };
      const hand = () => handOver(url, body, headers, false);
      const afterMs = fault === 'delayed' ? chance.int(1_000, weather.latestDeliveryMs) : chance.int(1, 200);
      timeline.in(afterMs, () => {
        if (fault === 'lost') return done(() => reject(new Error('ETIMEDOUT')));
        if (fault === 'twice') timeline.in(chance.int(1, 5_000), () => void hand().catch(() => undefined), true);
        // oxlint-disable promise/no-callback-in-promise -- the answer travels in virtual time
        hand().then(
          (answer) => done(() => (fault === 'answer-lost' ? reject(new Error('ECONNRESET')) : resolve(answer))),
          (error: Error) => done(() => reject(error)),
        );
        // oxlint-enable promise/no-callback-in-promise
        return undefined;
      }, true); // prettier-ignore
    });
  }

  return {
    journal,
    post: deliver,
    forge(path, body) {
      trace.fault('forged event');
      trace.add('attacker', `posts ${shortened(path)} ${wordIn(JSON.stringify(body))}`);
      void handOver(`http://gateway.sim${path}`, JSON.stringify(body), {}, true).catch(() => undefined);
    },
    end() {
      for (const reject of open) reject(new Error('the run is over'));
      open.clear();
    },
  };
}

type Headers = Readonly<Record<string, string>>;

/** As its sender would post it if it said nothing of a stage, a refund or what came in. */
function bare(url: string, whole: string, headers: Headers): { readonly body: string; readonly headers: Headers } {
  const isLeftOut = (name: string) => ['failure_details', 'refund_details', 'crypto_payment'].includes(name);
  const body = JSON.stringify(JSON.parse(whole, (name, value: unknown) => (isLeftOut(name) ? undefined : value)));
  const secret = new URL(url).pathname.startsWith('/callbacks/') ? SERVICE_SECRET : PROVIDER_SECRET;
  const wallNow = () => Number(headers['webhook-timestamp']) * 1_000;
  const outgoing = { webhookId: headers['webhook-id'] ?? '', event: '', body, signed: body };
  return PROFILES['standard-webhooks'](outgoing, { secret, integratorId: '', wallNow });
}

/** Capabilities are random in each run. */
const shortened = (path: string): string => path.replaceAll(/\/[0-9a-f]{43}\b/g, '').slice(0, 80);
const wordIn = (body: string): string => /"status":"([^"]*)"/.exec(body)?.[1] ?? '';

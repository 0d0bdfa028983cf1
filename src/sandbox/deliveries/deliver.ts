import http from 'node:http';
import https from 'node:https';
import type { Clock } from '../clock.js';
import type { JobKind, Scheduler } from '../scheduler.js';
import type { LiveSettings } from '../settings.js';
import { type Deliveries, type Delivery, DELIVERY_JOB, waitBeforeRetry } from './deliveries.js';
import type { Sign } from './signing.js';

const WAIT_FOR_TURN_MS = 50;

export interface DeliverOrder {
  readonly id: number;
  /** Sent once more by hand: now, whatever its state, and without further attempts of its own. */
  readonly resent?: boolean;
}

/** The job that makes one attempt of a delivery, records the result, and plans the next attempt if one is due. */
export function createDeliverJob(deps: {
  deliveries: Deliveries;
  transport: Transport;
  sign: Sign;
  settings: LiveSettings;
  clock: Clock;
  scheduler: Pick<Scheduler, 'schedule'>;
  /** Whether a delivery waits for those before it. Webhooks are unordered as a rule. */
  isOrdered: (delivery: Delivery) => boolean;
}): JobKind {
  const { deliveries, transport, sign, settings, clock, scheduler, isOrdered } = deps;
  return {
    lane: 'send',
    async run({ id, resent = false }: DeliverOrder) {
      const delivery = deliveries.get(id);
      // One that was resent by hand meanwhile is done.
      if (delivery === undefined || (!resent && delivery.state === 'delivered')) return () => undefined;
      if (!resent && isOrdered(delivery) && deliveries.isBehindAnother(delivery)) {
        return () => void scheduler.schedule(DELIVERY_JOB, WAIT_FOR_TURN_MS, { id });
      }
      const { headers, body } = sign(delivery);
      const { status, text } = await transport
        .post(delivery.url, body, headers, settings.current().deliveryTimeoutMs)
        .catch((error: Error): { status: null; text: string } => ({ status: null, text: error.message }));
      return () => {
        const accepted = status !== null && isAccepted(status);
        const tries = delivery.tries + 1;
        const ageMs = clock.now() - delivery.createdAt;
        // A person asked for this one; whether it is tried again is already decided.
        const wait =
          accepted || resent
            ? undefined
            : waitBeforeRetry(settings.current(), { tries, maxTries: delivery.maxTries, ageMs });
        const left = resent ? delivery.state : wait === undefined ? 'given-up' : 'pending';
        const state = accepted ? 'delivered' : left;
        deliveries.attempted(id, state, { status, answer: text });
        if (wait !== undefined) scheduler.schedule(DELIVERY_JOB, wait, { id });
      };
    },
  };
}

/** 200 is what the service's own documents expect; any other 2xx is accepted as well. Redirects are not followed. */
const isAccepted = (status: PostAnswer['status']) => status >= 200 && status < 300;

export interface PostAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Transport {
  /** Resolves with any answer, including redirects (they are not followed); rejects without an answer. */
  post(url: string, body: string, headers: Readonly<Record<string, string>>, timeoutMs: number): Promise<PostAnswer>;
  /** Ends open connections; posts in progress reject. */
  close(): void;
}

const MAX_KEPT_CHARACTERS = 2_000;

export function createTransport(): Transport {
  const agents = {
    'http:': new http.Agent({ keepAlive: true, maxSockets: 64 }),
    'https:': new https.Agent({ keepAlive: true, maxSockets: 64 }),
  };
  return {
    post: (url, body, headers, timeoutMs) =>
      new Promise((resolve, reject) => {
        const target = new URL(url);
        const secure = target.protocol === 'https:';
        const request = (secure ? https : http).request(target, {
          method: 'POST',
          agent: secure ? agents['https:'] : agents['http:'],
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
          signal: AbortSignal.timeout(timeoutMs),
        });
        request.on('error', reject);
        request.on('response', (response) => {
          let text = '';
          response.setEncoding('utf8');
          response.on('data', (chunk: string) => {
            if (text.length < MAX_KEPT_CHARACTERS) text += chunk.slice(0, MAX_KEPT_CHARACTERS - text.length);
          });
          response.on('error', reject);
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        });
        request.end(body);
      }),
    close() {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

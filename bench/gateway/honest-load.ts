import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../measure/statistics.js';
import { openCaller } from '../setup/caller.js';
import { createSender, requestBytes } from '../setup/http-load.js';
import { atPace } from '../setup/at-pace.js';
import type { Stack } from '../setup/stack.js';
import { depositRequest, flowIdOfTransfer, quote, webhook } from '../setup/transfers.js';

/** What an honest transfer takes, each in ms. */
export const STEPS = {
  ordered: "a deposit through the proxy to the service's answer",
  answered: 'its last webhook to the 200',
  ended: 'its last webhook to its end',
  calledBack: "its last webhook to the caller's callback",
} as const;

type Step = keyof typeof STEPS;

export interface HonestLoad {
  readonly tookMs: Readonly<Record<Step, number[]>>;
  /** Of the transfers that were carried through. */
  readonly references: string[];
  /** Requests that were refused or cut off, and sent again. */
  repeated: number;
  /** Why each of the others was not carried through. */
  readonly lost: string[];
}

/** Such a transfer takes some 280 ms of CPU with Temporal, worker and sandbox: of two cores, two thirds stay idle. */
const PER_SECOND = 2;
/** As the proxy keeps them that ends TLS before the gateway: it does not dial for each request. */
const CONNECTIONS = 16;
const REPEATED_AFTER_MS = 200;
/** Of all requests together. */
const MOST_REPEATED = 1_000;
const ENDS_WITHIN_MS = 120_000;
const PROGRESS_EVERY_MS = 60_000;

/**
 * Some transfers a second, as a backend and the service make them: quote and deposit through the proxy, the service's last
 * webhook, the callback to the caller. What is refused is sent again.
 */
export async function honestLoad(stack: Stack, seconds: number, say: (line: string) => void): Promise<HonestLoad> {
  const sender = createSender(stack.url);
  const caller = await openCaller();
  const load: HonestLoad = {
    tookMs: { ordered: [], answered: [], ended: [], calledBack: [] },
    references: [],
    repeated: 0,
    lost: [],
  };
  const untilTaken = async <T>(send: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await send();
      } catch (error) {
        load.repeated += 1;
        if (load.repeated > MOST_REPEATED) throw error;
        await sleep(REPEATED_AFTER_MS);
      }
    }
  };
  const timed = async (step: Step, work: Promise<unknown>): Promise<void> => {
    const startedMs = performance.now();
    await inTime(STEPS[step], work);
    load.tookMs[step].push(performance.now() - startedMs);
  };
  const transfer = async (): Promise<void> => {
    const reference = `bench-${randomUUID()}`;
    const rateId = await untilTaken(() => quote(stack));
    const order = depositRequest(stack, { reference, rateId, callbackUrl: caller.url });
    await timed(
      'ordered',
      untilTaken(() => sender.send(order)),
    );
    const last = webhook(stack, reference, 'COMPLETED');
    await Promise.all([
      timed(
        'answered',
        untilTaken(() => sender.send(last)),
      ),
      timed('ended', stack.client.workflow.getHandle(flowIdOfTransfer(reference)).result()),
      timed('calledBack', caller.isCalledBack(reference)),
    ]);
    load.references.push(reference);
  };
  const progress = setInterval(() => say(summaryOf(load)), PROGRESS_EVERY_MS);
  try {
    const anything = requestBytes(stack.url, '/healthz', {});
    await Promise.all(Array.from({ length: CONNECTIONS }, () => sender.send(anything)));
    await atPace(Array.from({ length: Math.ceil(seconds * PER_SECOND) }), PER_SECOND, () =>
      transfer().catch((error: unknown) => void load.lost.push(String(error))),
    );
    say(summaryOf(load));
    return load;
  } finally {
    clearInterval(progress);
    sender.close();
    caller.close();
  }
}

function summaryOf({ tookMs, references, repeated, lost }: HonestLoad): string {
  const p99 = Object.entries(tookMs).map(([step, times]) => `${step} ${percentile(times, 0.99).toFixed(0)}`);
  return `${references.length} transfers, p99 ms: ${p99.join(', ')}; ${repeated} requests sent again, ${lost.length} lost`;
}

async function inTime(what: string, work: Promise<unknown>): Promise<void> {
  const late = new AbortController();
  try {
    await Promise.race([
      work,
      sleep(ENDS_WITHIN_MS, undefined, { signal: late.signal }).then(() => {
        throw new Error(`${what} took more than ${ENDS_WITHIN_MS / 1_000} s`);
      }),
    ]);
  } finally {
    late.abort();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowState, FlowKind } from '../protocol/vocabulary.js';
import type { Flow, EventState } from './gateway-json.js';
import { UnavailableError, UnreachableError } from './errors.js';
import type { CallOptions } from './request.js';

export interface WaitOptions {
  /** Then the flow is given back as it is. @default as long as it takes */
  readonly timeoutMs?: number | undefined;
  /** For how long on end the gateway may be away. @default 600,000 */
  readonly outageMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Long polls are shorter than the minute after which many a proxy in between cuts a silent connection. */
const LONGEST_POLL_SECONDS = 50;
const OUTAGE_MS = 600_000;
const PARKED_PAUSE_MS = 2_000;

/** Asks again and again, through restarts of the gateway, until the flow is in one of these states or the time is up. */
export async function waitUntil(
  isDone: (state: FlowState) => boolean,
  poll: (timeoutSeconds: number) => Promise<Flow>,
  signals: readonly AbortSignal[],
  { timeoutMs = Number.POSITIVE_INFINITY, outageMs = OUTAGE_MS }: WaitOptions,
): Promise<Flow> {
  const endsAtMs = performance.now() + timeoutMs;
  const leftMs = () => Math.max(0, endsAtMs - performance.now());
  for (;;) {
    let isLast = false;
    const ask = () => {
      isLast = leftMs() === 0;
      return poll(Math.min(LONGEST_POLL_SECONDS, Math.ceil(leftMs() / 1_000)));
    };
    const flow = await repeat(ask, { forMs: Math.min(outageMs, leftMs()), isSafe: true, signals });
    if (isDone(flow.state) || isLast) return flow;
    // The gateway does not wait on a parked flow.
    if (flow.state !== 'running') await pause(Math.min(PARKED_PAUSE_MS, leftMs()), signals);
  }
}

export interface RepeatOptions {
  /** How long to go on after the first failure. */
  readonly forMs: number;
  /** Asking twice is as good as asking once: a read, or what the gateway does once for one reference. */
  readonly isSafe: boolean;
  readonly signals: readonly AbortSignal[];
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** Statuses after which another try may do better. A 500 is a fault that would only repeat itself. */
const PASSING = [408, 429, 502, 503, 504];

/** Asks again, with pauses that grow, for as long as that is safe and may help. @throws the last error */
export async function repeat<T>(ask: () => Promise<T>, { forMs, isSafe, signals }: RepeatOptions): Promise<T> {
  let givesUpAtMs: number | undefined;
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!mayHelp(error, isSafe)) throw error;
      givesUpAtMs ??= performance.now() + forMs;
      const pauseMs = pauseAfter(tries, error);
      if (performance.now() + pauseMs > givesUpAtMs) throw error;
      await pause(pauseMs, signals);
    }
  }
}

/** @throws the reason of a signal that is aborted meanwhile */
async function pause(ms: number, signals: readonly AbortSignal[]): Promise<void> {
  await sleep(ms, undefined, { signal: AbortSignal.any([...signals]) }).catch(() => undefined);
  for (const signal of signals) signal.throwIfAborted();
}

function mayHelp(error: unknown, isSafe: boolean): boolean {
  if (error instanceof UnreachableError) return isSafe || error.wasNotSent;
  if (!(error instanceof UnavailableError)) return false;
  // Refused for its rate alone, before anybody looked at it.
  return error.status === 429 || (isSafe && PASSING.includes(error.status));
}

/** Doubles, up to a limit, with a random half of it, so that callers do not come back all at once. */
function pauseAfter(tries: number, error: unknown): number {
  const fullMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries);
  const hintMs = error instanceof UnavailableError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(hintMs, fullMs * (0.5 + Math.random() / 2));
}

export interface ListQuery {
  readonly kind?: FlowKind | undefined;
  readonly state?: FlowState | undefined;
  readonly reference?: string | undefined;
  /** @default 50, at most 500 */
  readonly limit?: number | undefined;
}

export interface EventQuery {
  readonly flowId?: string | undefined;
  readonly state?: EventState | undefined;
  /** Go on after this event: `next` of the page before. */
  readonly after?: string | undefined;
  /** @default 50, at most 500 */
  readonly limit?: number | undefined;
}

export interface CallbackQuery {
  /** Those that could not be delivered, or all that go on. @default undelivered */
  readonly state?: 'undelivered' | 'open' | undefined;
  /** @default 50, at most 500 */
  readonly limit?: number | undefined;
}

export interface OrderOptions extends CallOptions {
  /** Why; kept with the flow. */
  readonly note?: string | undefined;
}

export interface ResolveOrder {
  /** One of `parked.actions`. */
  readonly action: string;
  /** Why; kept with the flow. */
  readonly note: string;
  /** Which event is meant, for `trust-settlement`, `accept-event` and `dismiss-event`. @default the one parked for, if one */
  readonly eventId?: string | undefined;
}

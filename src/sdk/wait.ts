import type { AuditKind } from '../protocol/audit.js';
import type { FlowState, FlowKind, ParkReason } from '../protocol/vocabulary.js';
import type { EventState } from '../api/events.js';
import type { Flow } from '../api/flow.js';
import { type CallOptions, repeat, pause } from './request.js';

export interface WaitOptions {
  /** After this time the current flow is returned. @default as long as it takes */
  readonly timeoutMs?: number | undefined;
  /** How long in a row the gateway may be unavailable. @default 600,000 */
  readonly outageMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Long polls are shorter than the minute after which many a proxy in between cuts a silent connection. */
const LONGEST_POLL_SECONDS = 50;
const OUTAGE_MS = 600_000;
const PARKED_PAUSE_MS = 2_000;

/** Polls, through restarts of the gateway, until the flow is in one of these states or the time is up. */
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

export interface ListQuery {
  readonly kind?: FlowKind | undefined;
  readonly state?: FlowState | undefined;
  /** Only flows that are parked for this reason. */
  readonly reason?: ParkReason | undefined;
  readonly reference?: string | undefined;
  /** @default 50, at most 500 */
  readonly limit?: number | undefined;
  /** Continue after this page: its `next`. */
  readonly after?: string | undefined;
}

export interface EventQuery {
  readonly flowId?: string | undefined;
  readonly state?: EventState | undefined;
  /** Continue after this event: `next` of the previous page. */
  readonly after?: string | undefined;
  /** @default 50, at most 500 */
  readonly limit?: number | undefined;
}

export interface AuditQuery {
  readonly flowId?: string | undefined;
  readonly actor?: string | undefined;
  readonly kind?: AuditKind | undefined;
  /** @default newest */
  readonly order?: 'newest' | 'oldest' | undefined;
  /** Continue after this entry: `next` of the previous page. */
  readonly after?: number | undefined;
  /** @default 50, at most 500 */
  readonly limit?: number | undefined;
}

export interface CallbackQuery {
  /** Those that could not be delivered, or all in progress. @default undelivered */
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
  /**
   * The event of a `trust-settlement`, `accept-event` or `dismiss-event`. @default the one that the flow parked for, if
   * there is only one
   */
  readonly eventId?: string | undefined;
  /** The new deadline of a `keep-waiting`: a time in UTC, such as `2026-12-01T12:00:00Z`, within 90 days. @default one more default deadline */
  readonly until?: string | undefined;
}

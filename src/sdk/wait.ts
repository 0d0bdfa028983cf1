import type { z } from 'zod';
import type { AuditPageQuery } from '../api/audit.js';
import type { CallbackListQuery } from '../api/callbacks.js';
import type { EventPageQuery } from '../api/events.js';
import type { Flow, FlowPageQuery } from '../api/flow.js';
import type { Json } from '../api/json.js';
import type { ResolveBody } from '../api/orders.js';
import type { FlowState } from '../protocol/vocabulary.js';
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

/**
 * `reason`: only flows that are parked for it. `limit`: 50 if it is not given, at most 500. `after`: `next` of the page
 * before.
 */
export type ListQuery = Json<z.input<typeof FlowPageQuery>>;
/**
 * `state`: those that could not be delivered (`undelivered`, the default), or all in progress. `limit`: 50 if it is not
 * given, at most 500.
 */
export type CallbackQuery = Json<z.input<typeof CallbackListQuery>>;
/** `limit`: 50 if it is not given, at most 500. `after`: the id of an event, `next` of the page before. */
export type EventQuery = Json<z.input<typeof EventPageQuery>> & { readonly flowId?: string | undefined };
/**
 * `order`: `newest` first if it is not given. `limit`: 50 if it is not given, at most 500. `after`: `next` of the page
 * before.
 */
export type AuditQuery = Omit<Json<z.input<typeof AuditPageQuery>>, 'flow'> & { readonly flowId?: string | undefined };

export interface OrderOptions extends CallOptions {
  /** Why; kept with the flow. */
  readonly note?: string | undefined;
}

/**
 * `action`: one of `parked.actions`, of which a newer gateway may have more. `note`: why; kept with the flow. `eventId`: of
 * a `trust-settlement`, `accept-event` or `dismiss-event`, if the flow parked for more than one event. `until`: the new
 * deadline of a `keep-waiting`, a time in UTC such as `2026-12-01T12:00:00Z`, within 90 days; one more default deadline if
 * it is not given.
 */
export type ResolveOrder = Omit<Json<z.input<typeof ResolveBody>>, 'action'> & { readonly action: string };

import type { FlowKind, FlowState } from '../flows/vocabulary.js';
import type { CallOptions } from './calls.js';
import type { EventState } from './gateway-json.js';

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

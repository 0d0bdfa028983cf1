import { upsertSearchAttributes } from '@temporalio/workflow';
import {
  PARK_REASON_ATTRIBUTE,
  PARKED_SINCE_ATTRIBUTE,
  STATE_ATTRIBUTE,
  type FlowState,
  type ParkReason,
  type UNDELIVERED,
} from '../../src/protocol/vocabulary.js';

/** Shows in listings why the flow is parked, and since when. One upsert for all attributes, since each is billed. */
export function showParked({ reason, sinceMs }: { readonly reason: ParkReason; readonly sinceMs: number }): void {
  upsertSearchAttributes({
    [STATE_ATTRIBUTE]: ['parked'],
    [PARK_REASON_ATTRIBUTE]: [reason],
    [PARKED_SINCE_ATTRIBUTE]: [new Date(sinceMs)],
  });
}

/** It continues. */
export function showUnparked(): void {
  upsertSearchAttributes({ [STATE_ATTRIBUTE]: [], [PARK_REASON_ATTRIBUTE]: [], [PARKED_SINCE_ATTRIBUTE]: [] });
}

/** The state of a flow that ends, or that a delivery of callbacks needs a person. No personal data ever goes here. */
export function markAs(word: FlowState | typeof UNDELIVERED | null): void {
  upsertSearchAttributes({ [STATE_ATTRIBUTE]: word === null ? [] : [word] });
}

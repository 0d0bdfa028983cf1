import { upsertSearchAttributes } from '@temporalio/workflow';
import {
  PARK_REASON_ATTRIBUTE,
  STATE_ATTRIBUTE,
  type FlowState,
  type ParkReason,
  type UNDELIVERED,
} from '../../src/protocol/vocabulary.js';

/**
 * Shows in listings why the flow is parked; null: it continues. One upsert for both attributes, since each is billed.
 */
export function showParked(reason: ParkReason | null): void {
  upsertSearchAttributes({
    [STATE_ATTRIBUTE]: reason === null ? [] : ['parked'],
    [PARK_REASON_ATTRIBUTE]: reason === null ? [] : [reason],
  });
}

/** The state of a flow that ends, or that a delivery of callbacks needs a person. No personal data ever goes here. */
export function markAs(word: FlowState | typeof UNDELIVERED | null): void {
  upsertSearchAttributes({ [STATE_ATTRIBUTE]: word === null ? [] : [word] });
}

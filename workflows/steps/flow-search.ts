import { upsertSearchAttributes } from '@temporalio/workflow';
import { STATE_ATTRIBUTE, type FlowState, type UNDELIVERED } from '../../src/flows/vocabulary.js';

/** Shows the state in listings; null: running, which needs no attribute. No personal data ever goes here. */
export function showState(state: FlowState | null): void {
  markAs(state);
}

/** The same of a delivery of callbacks, which has no state but that a person is needed. */
export function markAs(word: FlowState | typeof UNDELIVERED | null): void {
  upsertSearchAttributes({ [STATE_ATTRIBUTE]: word === null ? [] : [word] });
}

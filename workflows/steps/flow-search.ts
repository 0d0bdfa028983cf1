import { upsertSearchAttributes } from '@temporalio/workflow';
import { STATE_ATTRIBUTE, type FlowState } from '../../src/flows/vocabulary.js';

/** Shows the state in listings; null: running, which needs no attribute. No personal data ever goes here. */
export function showState(state: FlowState | null): void {
  upsertSearchAttributes({ [STATE_ATTRIBUTE]: state === null ? [] : [state] });
}

import { operations } from '../../../src/contract/index.js';
import type { Cell } from './cell.js';

export interface Expected {
  readonly state: 'completed' | 'parked' | 'failed';
  readonly reason: string | null;
  readonly executions: 0 | 1;
}

/** Its card was forgotten as soon as it may have been sent. */
const CANNOT_BE_SENT_AGAIN: readonly string[] = ['createCardDeposit'];

/**
 * Two faults need a person. The request may have been sent, and the service never had it, or said so in no body of its
 * own: a flow cannot know the second half. If the service is known to treat repeats safely, it is sent again, else it
 * parks, and the reason says what was looked up: a lookup that finds nothing, or no lookup, or one whose record is older
 * than the payment. And the payment of an invoice was refused, whose lookup shows the same before and after it.
 */
export function expectedOf({ operation, fault, mode }: Cell): Expected {
  const tells = 'statusLookup' in operations[operation] && operation !== 'payInvoice';
  if (fault.isRefused === true)
    return operation === 'payInvoice'
      ? { state: 'parked', reason: 'unknown_outcome', executions: 0 }
      : { state: 'failed', reason: null, executions: 0 };
  const mayRepeat = mode.setting !== 'unknown' && !CANNOT_BE_SENT_AGAIN.includes(operation);
  if (fault.neverArrived !== true || mayRepeat) return { state: 'completed', reason: null, executions: 1 };
  return { state: 'parked', reason: tells ? 'not_found_at_service' : 'unknown_outcome', executions: 0 };
}

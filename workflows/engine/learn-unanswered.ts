import type { Cause } from '../../src/protocol/causes.js';
import { notReported } from '../bridge/learn.js';
import { NOT_SENT, type Known, type PaidResult, type Step } from './known.js';
import { handedOver, withOrder } from './learn-orders.js';
import { paid, withRequest } from './learn-paid.js';
import { inNewTurn } from './take-events.js';

const NOT_CHECKED: Cause = { code: 'invoice_refused', text: 'it cannot be checked now: give it again later' };
const NO_ANSWER_OF_PAID: PaidResult = { says: 'cannot-tell', word: null, shown: {} };
const UNANSWERED = 'neither the store nor the service answered';

/** Neither the store nor the service has answered a step for as long as it was tried. */
export function noAnswer(known: Known, step: Step, askedAtMs: number): Known {
  const { turn, request: name } = step;
  const request = known.requests[name];
  switch (step.do) {
    case 'read-inbox':
      return { ...known, inbox: { says: 'cannot-tell', askedAtMs, turn } };
    case 'look':
    case 'follow':
    case 'look-status':
    case 'ask': {
      const before = request?.lookup?.says;
      const says = before === 'shown' || before === 'other' ? before : 'cannot-tell';
      const shown = { ...(request?.shown ?? NOT_SENT.shown), asked: { asked: UNANSWERED } };
      return withRequest(known, name, { lookup: { says, askedAtMs, turn }, shown });
    }
    case 'look-paid':
    case 'ask-paid':
      return paid(known, name, NO_ANSWER_OF_PAID, { askedAtMs, turn });
    case 'compare':
    case 'quote':
      return known;
    case 'report':
      return notReported(known, step, UNANSWERED);
    case 'void':
      return { ...known, stop: { for: step.stop ?? 'expired', says: 'no-answer', turn, order: step.order ?? null } };
    case 'take-back':
      return withRequest(known, name, { holdBackFailed: true });
    case 'write-answer':
      return inNewTurn(
        withRequest(known, name, request?.unwritten === true ? { unwritten: false } : { proofWritten: true }),
      );
    case 'order-send':
      return inNewTurn(
        withOrder(withRequest(known, name, { repeat: 'unknown', maybeOrdered: true }), step.order, {
          result: 'no-answer',
        }),
      );
    case 'check':
    case 'send':
      return known;
    case 'close':
    case 'last-word':
      return withOrder(known, step.order, { result: 'no-answer' });
    case 'check-invoice':
      return inNewTurn(withOrder(known, step.order, { result: 'not-taken', why: NOT_CHECKED }));
    case 'hand-over':
      return handedOver(known, { says: 'unknown', why: null }, askedAtMs);
    default:
      return step.do satisfies never;
  }
}

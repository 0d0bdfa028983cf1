import { CHECKOUT_WORDS, ATTEMPT_WORDS, failsCheckout, provesPayment } from '../src/protocol/statuses.js';
import { sameFingerprint } from '../src/protocol/fingerprint.js';
import type { Cause, CauseCode } from '../src/protocol/causes.js';
import { PAID_BY_ANOTHER_WAY } from '../src/protocol/messages.js';
import { INVOICE_PAYMENT_FIRST_LOOK_MS } from './engine/policies.js';
import { factsOf } from './engine/events.js';
import { isPaid, type Input, type Known, type Request } from './engine/known.js';
import { refuse } from './engine/orders.js';
import type { Note, OrderRule, Ordered, Plan, Rule, Situation, View } from './engine/plan.js';
import { askOn, compare, isStopped, lookAtStatus, unlessPaid } from './engine/situation.js';
import { mayBeSent, requestOf } from './engine/view.js';

const RULES: readonly Rule[] = [
  {
    name: 'another-invoice-paid',
    says: 'It was paid, and the invoice is not the one that was asked for: a person decides.',
    when: (v) => isPay(v) && v.executed === 'shown' && isAnother(v),
    follows: (v) => ({ steps: askOn(v), park: 'conflict' }),
  },
  {
    name: 'paid-uncompared',
    says: 'It was paid, and could not be compared with what was asked for: a person decides, if that takes long.',
    when: (v) => isPay(v) && v.executed === 'shown' && isUncompared(v),
    follows: (v) => {
      const untilMs = (v.request.paid?.askedAtMs ?? v.request.firstSendAtMs) + v.known.patienceMs;
      const isLong = v.nowMs >= untilMs || v.is.overdue;
      // An event is a hint; and while that is looked up, the invoice is read on.
      const steps = [compare(v), ...(v.is.hinted && !v.is.looked ? [lookAtStatus(v)] : askOn(v))];
      return isLong ? { steps, park: 'conflict', about: 'uncompared' } : { steps, wakeAtMs: untilMs };
    },
  },
  {
    name: 'reported-as-paid',
    says: 'A trusted event says that it was paid: the lookup is asked at once, and asked on while it does not show it.',
    when: (v) => isUnpaidByUs(v) && v.reporting.length > 0 && !isAnother(v) && unlessPaid(v) !== null,
    follows: (v) => unlessPaid(v) ?? { steps: [] },
  },
  {
    name: 'another-invoice',
    says: 'The invoice is not the one that was asked for: it is not paid, and a person decides.',
    when: (v) => isUnpaidByUs(v) && isAnother(v),
    follows: (v) => {
      const isReported = v.reporting.length > 0;
      const asks = isReported ? unlessPaid(v) : null;
      // Then it is no question any more whether it was not executed.
      return { steps: asks?.steps ?? [], park: isReported ? 'conflict' : 'duplicate_mismatch' };
    },
  },
  {
    name: 'compare-invoice',
    says: 'Only the invoice that was asked for is paid: it is read, and compared.',
    when: (v) => isUnpaidByUs(v) && isUncompared(v) && !v.is.overdue,
    follows: (v) => ({ steps: [compare(v)], wakeAtMs: v.known.deadlineAtMs }),
  },
  {
    name: 'await-order',
    says: 'It waits for the order to pay, or for a payment by another way; the order to an earlier run is to be given again.',
    when: (v) => isUnpaidByUs(v) && v.request.claim !== 'void' && !isPayKnown(v.known) && !v.is.overdue,
    follows: (v) => ({ steps: [], wakeAtMs: v.known.deadlineAtMs }),
  },
  {
    name: 'look-before-paying',
    says: 'Before we pay, the service is asked whether it was paid by another way: only "not paid" allows it.',
    when: (v) => isUnpaidByUs(v) && v.request.claim !== 'void' && v.request.answer === null && unlessPaid(v) !== null,
    follows: (v) => unlessPaid(v) ?? { steps: [] },
  },
  {
    name: 'held-back-looks',
    says: 'An event held it back, and nothing says that it was paid: the lookup is asked before a person is.',
    when: (v) => isUnpaidByUs(v) && v.request.answer === 'held-back' && v.is.inboxRead && !v.is.asked,
    follows: (v) => unlessPaid(v) ?? { steps: [] },
  },
];

const ORDER_RULES: readonly OrderRule[] = [
  {
    name: 'pay-waits',
    says: 'While it is tried to void the claims, or the store may have done so, an order to pay waits.',
    when: ({ v, situation, order }) => order.action === 'pay' && isBeingStopped(v, situation),
    follows: () => ({}),
  },
  {
    name: 'pay-refused',
    says: 'An order to pay is refused if another one was given, if it was paid by another way, or if the claims are void, or may be.',
    when: ({ v, order }) => order.action === 'pay' && whyNotPay(v, order) !== null,
    follows: (o) => refuse(o, whyNotPay(o.v, o.order) ?? PAID),
  },
  {
    name: 'pay',
    says: 'An order to pay is taken once; the same one finds the first.',
    when: ({ order }) => order.action === 'pay',
    follows: ({ order }) => ({ says: { is: 'carried-out', order: order.id } }),
  },
  {
    name: 'pay-order-lost',
    says: 'Another payment is not sent if this run does not know whom it charges: the order to pay is given again.',
    when: ({ v, order }) => order.action === 'send-again' && order.request === PAY && isPay(v) && !isPayable(v.known),
    follows: (o) => refuse(o, ORDER_LOST),
  },
];

/**
 * An invoice payment: generate → read and compare → pay at once, or when ordered → confirm. An existing invoice is only
 * paid. Until its payment is sent nothing has moved: until then the flow can be cancelled, and expires at its deadline.
 */
export const invoicePaymentPlan: Plan = {
  kind: 'invoice-payment',
  noun: 'the payment',
  words: CHECKOUT_WORDS,
  attemptWords: ATTEMPT_WORDS,
  firstLookMs: INVOICE_PAYMENT_FIRST_LOOK_MS,
  graceMs: 0,
  requests: [
    {
      name: 'generate',
      operation: 'createInvoice',
      noun: 'the invoice',
      lookUp: 'own',
      movesNothing: true,
      // It moves nothing: what came before it was sent is no reason not to send it.
      reports: (_word, isSent) => isSent,
      isOver: (v) => isNotOfInput(v) || isThere(v),
    },
    {
      name: 'pay',
      operation: 'payInvoice',
      lookUp: 'own',
      byOthersToo: true,
      // PENDING of an invoice that existed before says nothing about a payment; and another's attempt may have failed.
      reports: (word, isSent) => provesPayment(word) && (isSent || !failsCheckout(word)),
    },
  ],
  rules: RULES,
  orderRules: ORDER_RULES,
  takesPay: true,
  mayBeOfAnother: (v) => isPay(v) && (isAnother(v) || isUncompared(v)),
  tells,
  evidenceOf(v, reason) {
    if (reason === 'payment_unclear') return evidenceOfUnclear(v);
    if (reason === 'duplicate_mismatch' && isPay(v)) return { ...generateOf(v.known).shown.other };
    if (reason !== 'conflict' || !isPay(v)) return undefined;
    if (isAnother(v)) return { ...generateOf(v.known).shown.other, words: wordsIn(v) };
    return v.executed === 'shown' && isUncompared(v) ? evidenceOfUncompared(v) : undefined;
  },
};

const GENERATE = 'generate';
const PAY = 'pay';

const isPay = ({ requestPlan }: View): boolean => requestPlan.name === PAY;
const generateOf = (known: Known): Request => requestOf(known, GENERATE);
/** Before the check the claims alone tell: after a payment that may have been sent, the invoice is there. */
const isNotOfInput = ({ known }: View): boolean =>
  known.prepared === null ? mayBeSent(requestOf(known, PAY)) : !(GENERATE in known.prepared.steps);

/** Nothing of the flow's own can still change what the service has. */
const isThere = ({ executed, request, post, send }: View): boolean =>
  executed === 'shown' &&
  send === undefined &&
  !request.unwritten &&
  !request.maybeOrdered &&
  request.claim !== 'ordered' &&
  (post.claim === 'answered' ? !request.byClaim || request.lookup !== null : request.lookup !== null);

const isOrdered = ({ prepared }: Known): boolean => prepared !== null && PAY in prepared.steps;

/** The payment is current, and nothing of ours was sent, nor runs. */
const isUnpaidByUs = (v: View): boolean =>
  isPay(v) && v.executed !== 'shown' && !v.is.maybeSent && v.send === undefined && v.known.prepared !== null;

const isGenerated = ({ over, known: { prepared } }: View): boolean =>
  over.includes(GENERATE) && prepared !== null && GENERATE in prepared.steps;
const isUncompared = (v: View): boolean => isGenerated(v) && generateOf(v.known).compared === null && !isAnother(v);

const maybeStopped = ({ known, is }: View): boolean => is.overdue && known.stop?.says === 'no-answer';

/** Of a stop that can only go on once it is known whether it was paid, it is not known when that ends. */
const isBeingStopped = (v: View, { steps, isCheck }: Situation): boolean =>
  (maybeStopped(v) && isCheck === true) || [...v.known.running, ...steps].some((step) => step.do === 'void');

/** The service returned another invoice under this reference. */
function isAnother(v: View): boolean {
  const { compared, isOther, lookup } = generateOf(v.known);
  return isGenerated(v) && (compared === 'other' || isOther || lookup?.says === 'other');
}

/** Who is charged came with the input, or with the order: after another start of the flow it may be known to neither. */
function isPayable({ prepared }: Known): boolean {
  const { pay, payment } = (prepared?.input ?? {}) as { readonly pay?: string; readonly payment?: unknown };
  return pay === 'existing' || payment !== undefined;
}

const isPayKnown = (known: Known): boolean => isOrdered(known) && isPayable(known);

function whyNotPay(v: View, { described }: Ordered['order']): Cause | null {
  const { known, is, request } = v;
  const first = known.prepared?.steps[PAY];
  const isSame = first !== undefined && sameFingerprint(first.claim.fingerprint, described?.claim.fingerprint ?? '');
  if (first !== undefined) return isSame ? null : OTHER_ORDER;
  if (is.elsewhere) return PAID;
  if (isStopped(known) || request.claim === 'void') return VOID;
  return maybeStopped(v) ? MAYBE_VOID : null;
}

const OTHER_ORDER: Cause = {
  code: 'other_request',
  text: 'Another payment of this invoice was ordered before. It stands',
};
const PAID: Cause = {
  code: PAID_BY_ANOTHER_WAY,
  text: 'The invoice is being paid in another way. This flow has sent nothing for this order',
};
const VOID: Cause = {
  code: 'claim_closed',
  text: 'The claim of the payment is void: this flow sends nothing any more',
};
const MAYBE_VOID: Cause = {
  code: 'payment_unclear',
  text: 'It is not known whether the invoice was paid, and the claim of the payment may be void',
};
const ORDER_LOST: Cause = {
  code: 'flow_moved_on',
  text: 'the flow was started again, and does not know who is to be charged: give the order to pay again first',
};

const wordsIn = ({ request, reporting }: View): readonly string[] => [
  ...new Set([...request.words, ...reporting.flatMap(({ of }) => of.event.status ?? [])]),
];

const evidenceOfUnclear = (v: View) => ({
  why: 'the service does not say whether the invoice was paid',
  ...v.request.shown.asked,
  reported: wordsIn(v),
});

const evidenceOfUncompared = (v: View) => ({
  why: 'it was paid, and the service does not show the invoice: it cannot be compared with the one that was asked for',
  code: 'not_compared' satisfies CauseCode,
  ours: factsOf(v.known, GENERATE) ?? {},
  words: wordsIn(v),
});

function tells({ known: before }: View, input: Input, { known, is }: View): readonly Note[] {
  const notes: Note[] = [];
  const [was, now] = [generateOf(before), generateOf(known)];
  if (input.is === 'began' && input.step.do === 'compare')
    notes.push({
      code: 'reading-invoice',
      detail: 'reads the invoice: it is paid only if it is the one that was asked for',
    });
  if (was.compared === null && now.compared === 'ours') {
    notes.push({ stage: 'generated', code: 'invoice-payable', detail: 'the invoice can be paid', by: 'service' });
    if (!isPayKnown(known) && !is.elsewhere)
      notes.push({ stage: 'awaiting-payment', code: 'awaiting-payment', detail: 'waits for the order to pay' });
  }
  const isNewlyPaid = !isPaid(requestOf(before, PAY).paid) && isPaid(requestOf(known, PAY).paid);
  if (isNewlyPaid && is.elsewhere)
    notes.push({
      stage: 'tracking',
      code: 'paid-elsewhere',
      detail: 'paid by another way, not by this flow',
      by: 'service',
    });
  return notes;
}

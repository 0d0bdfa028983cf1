import type { PlantName } from '../plants/index.js';

// Bugs that reviewers planted by hand and no test found, when the decisions about money were read again. `npm run mutants`
// plants each of them in a copy of the sources, and runs the tests that must turn red.

export interface Mutant {
  readonly name: string;
  /** What the bug does. */
  readonly story: string;
  readonly plants: readonly PlantName[];
  /** Files of tests, of which at least one test must fail. */
  readonly tests: readonly string[];
}

export const NAMED: readonly Mutant[] = [
  {
    name: 'send-again-of-answered',
    story: 'an order to send again reopens a claim that was answered',
    plants: ['send-again-of-answered'],
    tests: ['test/store/claims.test.ts'],
  },
  {
    name: 'one-owner',
    story: 'all attempts have one owner, so none is fenced off',
    plants: ['one-owner'],
    tests: ['test/store/submit-under-claim.test.ts'],
  },
  {
    name: 'void-hides-answer',
    story: 'an answer that comes after a person closed the claim is not written over `void`',
    plants: ['void-hides-answer'],
    tests: ['test/store/claims.test.ts'],
  },
  {
    name: 'one-miss',
    story: 'a single "not found" is taken for "absent"',
    plants: ['one-miss'],
    tests: ['test/store/settle-unknown.test.ts'],
  },
  {
    name: 'unread-is-unsaid',
    story: 'an event of the bridge whose status or details cannot be read says nothing',
    plants: ['unread-is-unsaid'],
    tests: ['test/decisions/bridge-unread.test.ts'],
  },
  {
    name: 'unread-is-unpaid',
    story: 'an event of an invoice that cannot be read is no sign of its payment, in the transaction of its claim',
    plants: ['unread-is-unpaid'],
    tests: ['test/decisions/invoices-unsent.test.ts'],
  },
  {
    name: 'refused-read-is-the-invoice',
    story: 'an invoice that the service refuses to show is taken for the one that was asked for',
    plants: ['refused-read-is-the-invoice'],
    tests: ['test/decisions/invoices-unsent.test.ts'],
  },
  {
    name: 'bare-failure-owes-nothing',
    story: 'a FAILED that names no stage owes no refund, although the crypto was paid before it',
    plants: ['payment-is-no-debt'],
    tests: ['test/properties/refund-due.test.ts'],
  },
  {
    name: 'refund-against-refunded',
    story: 'a REFUNDED in the inbox does not stop our refund',
    plants: ['refund-against-refunded'],
    tests: ['test/store/refund-activities.test.ts'],
  },
  {
    name: 'late-mark-reopens',
    story: 'a mark that comes late changes a row that was settled',
    plants: ['late-mark-reopens'],
    tests: ['test/store/inbox.test.ts'],
  },
  {
    name: 'other-content-is-accepted',
    story: 'a repeated request of other content is answered 202 while no worker runs',
    plants: ['other-content-is-accepted'],
    tests: ['test/gateway/proxy/other-request.test.ts'],
  },
  {
    name: 'old-quote',
    story: 'a retry counts the life of its quote from its own start, and sends one that is too old',
    plants: ['old-quote'],
    tests: ['test/store/bridge-transfer-activities.test.ts'],
  },
  {
    name: 'nonces-repeat',
    story: 'the nonces of AES-GCM begin again after 256 seals',
    plants: ['nonces-repeat'],
    tests: ['test/keys/seal.test.ts'],
  },
  {
    name: 'redirect-is-delivered',
    story: 'a 302 of the receiver counts as a callback that was delivered',
    plants: ['redirect-is-delivered'],
    tests: ['test/callbacks/delivery.test.ts'],
  },
  {
    name: 'close-voids-answered',
    story: 'to close a claim as not executed makes an answered one void',
    plants: ['close-voids-answered'],
    tests: ['test/store/claims.test.ts'],
  },
  {
    name: 'reserve-steals-sending',
    story: 'another attempt takes over a claim that is being sent',
    plants: ['reserve-steals-sending'],
    tests: ['test/store/claims.test.ts'],
  },
  {
    name: 'short-windows-with-real-money',
    story: 'windows that are made shorter for tests are taken beside a service that is not on this machine',
    plants: ['short-windows-with-real-money'],
    tests: ['test/config/settings.test.ts'],
  },
  {
    name: 'order-against-a-trusted-event',
    story: "a person's order is carried out against what trusted events prove",
    plants: ['order-against-a-trusted-event'],
    tests: ['test/decisions/parked.test.ts'],
  },
  {
    name: 'end-without-the-inbox',
    story: 'a flow ends as failed by what the service says, against a trusted success that lies in its inbox',
    plants: ['end-without-the-inbox'],
    tests: ['test/decisions/contradicted.test.ts'],
  },
  {
    name: 'refund-against-unread-failure',
    story: "a refund is sent although a failure that its flow has not read may say that the service's own is done",
    plants: ['refund-against-unread-failure'],
    tests: ['test/store/refund-activities.test.ts'],
  },
  {
    name: 'refund-against-less-unread',
    story: 'a refund goes out as ordered although a SETTLING in the inbox says that less came in',
    plants: ['refund-against-less-unread'],
    tests: ['test/decisions/bridge-refund-amount.test.ts'],
  },
  {
    name: 'send-again-after-the-last-word',
    story: 'a setting or an order opens a claim again after a person said how its flow ended',
    plants: ['send-again-after-the-last-word'],
    tests: ['test/store/ended-by-order.test.ts'],
  },
  {
    name: 'mark-while-sending',
    story:
      'a decision about a terminated flow is recorded although an attempt has begun to send since its claims were read',
    plants: ['mark-while-sending'],
    tests: ['test/store/ended-by-order.test.ts'],
  },
  {
    name: 'answer-after-the-last-word',
    story: 'an answer that comes after a person said that the flow failed raises no alarm',
    plants: ['answer-after-the-last-word'],
    tests: ['test/store/late-answer.test.ts'],
  },
  {
    name: 'closed-without-the-inbox',
    story: 'a refund that a person closed as not executed ends its flow although the inbox could not be read',
    plants: ['inbox-counts-as-read'],
    tests: ['test/decisions/bridge-refund.test.ts'],
  },
  {
    name: 'ordered-inside-the-window',
    story: 'a person orders another send, or closes it, while its POST may be under way',
    plants: ['ordered-inside-the-window'],
    tests: ['test/decisions/unknown-posts.test.ts'],
  },
  {
    name: 'cancel-without-asking',
    story: 'a cancel ends the flow of an invoice without asking whether others have paid it',
    plants: ['cancel-without-asking'],
    tests: ['test/decisions/invoices-unsent.test.ts'],
  },
  {
    name: 'any-end-is-a-cancel',
    story: 'a cancel is answered as carried out by a flow that ends otherwise meanwhile',
    plants: ['any-end-is-a-cancel'],
    tests: ['test/decisions/stops-while-ending.test.ts'],
  },
  {
    name: 'repeat-against-any-word',
    story: 'a POST goes out against a trusted event whose word reports no end',
    plants: ['repeat-against-any-word'],
    tests: ['test/store/submit-under-claim.test.ts'],
  },
  {
    name: 'refund-closed-against-another',
    story: 'a refund that a person closed as not executed ends its flow against a trusted event of another amount',
    plants: ['refund-closed-against-another'],
    tests: ['test/decisions/bridge-refund.test.ts'],
  },
  {
    name: 'repeat-against-what-came-meanwhile',
    story: 'a refund is sent again although a trusted COMPLETED came while that was being ordered',
    plants: ['repeat-against-what-came-meanwhile'],
    tests: ['test/decisions/bridge-refund.test.ts'],
  },
  {
    name: 'refusal-past-its-webhook',
    story: 'a refusal of a refund counts while a webhook under the reference of its flow is being matched',
    plants: ['refusal-past-its-webhook'],
    tests: ['test/store/refused-for-its-reference.test.ts'],
  },
  {
    name: 'refusal-of-a-second-copy',
    story: 'a refused POST counts as not executed, although the service shows that something on the way sent it twice',
    plants: ['refusal-of-a-second-copy'],
    tests: ['test/decisions/second-copies.test.ts'],
  },
  {
    name: 'refusal-against-an-untrusted-success',
    story: 'a refusal ends a flow without a lookup as failed, although an untrusted event says that it succeeded',
    plants: ['refusal-against-an-untrusted-success'],
    tests: ['test/decisions/second-copies.test.ts'],
  },
  {
    name: 'reset-before-the-claims',
    story: 'a flow that ended before it named its claims leaves them open, so that a reset sends',
    plants: ['reset-before-the-claims'],
    tests: ['test/decisions/second-copies.test.ts'],
  },
  {
    name: 'word-before-the-claims',
    story: 'a person says how a flow ended that has not named its claims, and those stay open to a reset',
    plants: ['word-before-the-claims'],
    tests: ['test/store/ended-unsent.test.ts'],
  },
  {
    name: 'last-reading-is-dropped',
    story: 'a failure ends its flow, although an event that was read last says that a refund is due',
    plants: ['last-reading-is-dropped'],
    tests: ['test/decisions/ends-judged-again.test.ts'],
  },
  {
    name: 'failure-of-another-payer',
    story: "a failed attempt of the invoice's page ends a flow whose own payment was refused or found",
    plants: ['failure-of-another-payer'],
    tests: ['test/decisions/invoices-overtaken.test.ts'],
  },
  {
    name: 'sent-before-the-restore',
    story: 'an order to pay that may have been sent is answered "paid in another way", once its flow was restored',
    plants: ['sent-before-the-restore'],
    tests: ['test/gateway/proxy/contradicted.test.ts'],
  },
];

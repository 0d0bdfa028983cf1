// Bugs that reviewers planted by hand and no test found, when the decisions about money were read again. `npm run mutants`
// plants each of them in a copy of the sources, and runs the tests that must turn red.

export interface Mutant {
  readonly name: string;
  /** What the bug does. */
  readonly story: string;
  readonly file: string;
  /** A text that is in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Files of tests, of which at least one test must fail. */
  readonly tests: readonly string[];
}

export const NAMED: readonly Mutant[] = [
  {
    name: 'send-again-of-answered',
    story: 'an order to send again reopens a claim that was answered',
    file: 'src/store/sql-claims.ts',
    find: "WHERE ${OF_KEY} AND phase = 'sending' AND owner <> ? AND NOT ${ENDED_BY_ORDER}`,\n          params: [newOwner",
    replace:
      "WHERE ${OF_KEY} AND phase IN ('sending', 'answered') AND owner <> ? AND NOT ${ENDED_BY_ORDER}`,\n          params: [newOwner",
    tests: ['test/store/claims.test.ts'],
  },
  {
    name: 'one-owner',
    story: 'all attempts have one owner, so none is fenced off',
    file: 'activities/submit-under-claim.ts',
    find: 'const owner = deps.newOwner();',
    replace: "const owner = 'the one';",
    tests: ['test/store/submit-under-claim.test.ts', 'test/store/deciding-activities.test.ts'],
  },
  {
    name: 'void-hides-answer',
    story: 'an answer that comes after a person closed the claim is not written over `void`',
    file: 'src/store/sql-claims.ts',
    find: "WHERE ${OF_KEY} AND phase <> 'answered'`",
    replace: "WHERE ${OF_KEY} AND phase NOT IN ('answered', 'void')`",
    tests: ['test/store/claims.test.ts'],
  },
  {
    name: 'one-miss',
    story: 'a single "not found" is taken for "absent"',
    file: 'activities/timing.ts',
    find: 'export const MISSES = 3;',
    replace: 'export const MISSES = 1;',
    tests: ['test/store/deciding-activities.test.ts'],
  },
  {
    name: 'bare-failure-owes-nothing',
    story: 'a FAILED that names no stage owes no refund, although the crypto was paid before it',
    file: 'workflows/bridge/refund-due.ts',
    find: 'cryptoWasPaid(statuses) || owesRefund(facts)',
    replace: 'owesRefund(facts)',
    tests: ['test/properties/refund-due.test.ts'],
  },
  {
    name: 'refund-against-refunded',
    story: 'a REFUNDED in the inbox does not stop our refund',
    file: 'activities/refund.ts',
    find: 'guard: { flowId, statuses: BRIDGE_STATUSES,',
    replace: "guard: { flowId, statuses: BRIDGE_STATUSES.filter((status) => status !== 'REFUNDED'),",
    tests: ['test/store/deciding-activities.test.ts'],
  },
  {
    name: 'late-mark-reopens',
    story: 'a mark that comes late changes a row that was settled',
    file: 'src/store/sql-inbox.ts',
    find: "AND (settled_at IS NULL OR state = 'unverified') ${stale}`",
    replace: '${stale}`',
    tests: ['test/store/inbox.test.ts'],
  },
  {
    name: 'other-content-is-accepted',
    story: 'a repeated request of other content is answered 202 while no worker runs',
    file: 'src/gateway/proxy/send-money.ts',
    find: 'if (facts?.fingerprint !== undefined && !sameFingerprint(facts.fingerprint, fingerprint)) throw otherRequest(request);',
    replace: '',
    tests: ['test/gateway/proxy/other-request.test.ts'],
  },
  {
    name: 'old-quote',
    story: 'a retry counts the life of its quote from its own start, and sends one that is too old',
    file: 'activities/bridge-transfer.ts',
    find: 'return () => usedMs + (deps.monotonicMs() - startedMs) < order.usableMs;',
    replace: 'return () => Math.min(usedMs, 0) + (deps.monotonicMs() - startedMs) < order.usableMs;',
    tests: ['test/store/deciding-activities.test.ts'],
  },
  {
    name: 'nonces-repeat',
    story: 'the nonces of AES-GCM begin again after 256 seals',
    file: 'src/keys/seal.ts',
    find: 'randomFillSync(pool);\n    used = 0;',
    replace: 'if (pool.every((byte) => byte === 0)) randomFillSync(pool);\n    used = 0;',
    tests: ['test/keys/seal.test.ts'],
  },
  {
    name: 'redirect-is-delivered',
    story: 'a 302 of the receiver counts as a callback that was delivered',
    file: 'activities/deliver-callback.ts',
    find: 'httpStatus >= 200 && httpStatus < 300',
    replace: 'httpStatus >= 200 && httpStatus < 400',
    tests: ['test/callbacks/delivery.test.ts'],
  },
  {
    name: 'close-voids-answered',
    story: 'to close a claim as not executed makes an answered one void',
    file: 'src/store/sql-claims.ts',
    find: "const CLOSABLE = `(phase = 'reserved' OR",
    replace: "const CLOSABLE = `(phase IN ('reserved', 'answered') OR",
    tests: ['test/store/claims.test.ts'],
  },
  {
    name: 'reserve-steals-sending',
    story: 'another attempt takes over a claim that is being sent',
    file: 'src/store/sql-claims.ts',
    find: "WHERE claims.phase = 'reserved' AND claims.fingerprint",
    replace: "WHERE claims.phase IN ('reserved', 'sending') AND claims.fingerprint",
    tests: ['test/store/claims.test.ts'],
  },
  {
    name: 'short-windows-with-real-money',
    story: 'windows that are made shorter for tests are taken beside a service that is not on this machine',
    file: 'src/config/settings.ts',
    find: 'if (settings.timeScale !== 1 && !serviceIsLocal) {',
    replace: 'if (settings.timeScale !== settings.timeScale && !serviceIsLocal) {',
    tests: ['test/config/settings.test.ts'],
  },
  {
    name: 'order-against-a-trusted-event',
    story: "a person's order is carried out against what trusted events prove",
    file: 'workflows/engine/park.ts',
    find: 'orderRefusal(asked.action, endingsOf(provenOf(flow)), shown) ?? refusalOf(asked)',
    replace: 'refusalOf(asked)',
    tests: ['test/decisions/parked.test.ts'],
  },
  {
    name: 'end-without-the-inbox',
    story: 'a flow ends as failed by what the service says, against a trusted success that lies in its inbox',
    file: 'workflows/engine/stop.ts',
    find: "if (saysMoneyMoved(provenOf(flow))) return 'it is proven that money moved';",
    replace: '',
    tests: ['test/decisions/contradicted.test.ts'],
  },
  {
    name: 'refund-against-unread-failure',
    story: "a refund is sent although a failure that its flow has not read may say that the service's own is done",
    file: 'activities/refund.ts',
    find: 'guard: { flowId, statuses: BRIDGE_STATUSES,',
    replace: "guard: { flowId, statuses: BRIDGE_STATUSES.filter((status) => status !== 'FAILED'),",
    tests: ['test/store/deciding-activities.test.ts'],
  },
  {
    name: 'refund-against-less-unread',
    story: 'a refund goes out as ordered although a SETTLING in the inbox says that less came in',
    file: 'activities/refund.ts',
    find: 'guard: { flowId, statuses: BRIDGE_STATUSES,',
    replace: "guard: { flowId, statuses: BRIDGE_STATUSES.filter((status) => status !== 'SETTLING'),",
    tests: ['test/decisions/bridge-refund-amount.test.ts'],
  },
  {
    name: 'send-again-after-the-last-word',
    story: 'a setting or an order opens a claim again after a person said how its flow ended',
    file: 'src/store/sql-claims.ts',
    find: 'owner <> ? AND NOT ${ENDED_BY_ORDER}`,\n          params: [newOwner',
    replace: 'owner <> ?`,\n          params: [newOwner',
    tests: ['test/store/ended-by-order.test.ts'],
  },
  {
    name: 'mark-while-sending',
    story:
      'a decision about a terminated flow is recorded although an attempt has begun to send since its claims were read',
    file: 'src/store/sql-claim-closing.ts',
    find: '${underWay.sql} = 0`',
    replace: '${underWay.sql} >= 0`',
    tests: ['test/store/ended-by-order.test.ts'],
  },
  {
    name: 'answer-after-the-last-word',
    story: 'an answer that comes after a person said that the flow failed raises no alarm',
    file: 'activities/claims.ts',
    find: "if (before === 'answered' || lastWord === null ||",
    replace: "if (lastWord !== null || before === 'answered' ||",
    tests: ['test/store/late-answer.test.ts'],
  },
  {
    name: 'closed-without-the-inbox',
    story: 'a refund that a person closed as not executed ends its flow although the inbox could not be read',
    file: 'workflows/engine/settle-unknown.ts',
    find: "if (isRead && post.trusted() === 'nothing')",
    replace: "if (post.trusted() === 'nothing')",
    tests: ['test/decisions/bridge-refund.test.ts'],
  },
  {
    name: 'ordered-inside-the-window',
    story: 'a person orders another send, or closes it, while its POST may be under way',
    file: 'workflows/engine/open-post.ts',
    find: 'if (open.saidToExist || leftMs(open) === 0) return null;',
    replace: 'if (leftMs(open) >= 0) return null;',
    tests: ['test/decisions/unknown-posts.test.ts'],
  },
  {
    name: 'refused-stop-voids',
    story: 'a cancel that is refused has voided the claim of a payment that is still to be sent',
    file: 'workflows/engine/stop.ts',
    find: '(await whyMoved(flow)) ?? (await whyMaybeSent(flow, state)) ??',
    replace: '(await whyMaybeSent(flow, state)) ?? (await whyMoved(flow)) ??',
    tests: ['test/decisions/invoices-unsent.test.ts'],
  },
  {
    name: 'refusal-past-its-webhook',
    story: 'a refusal of a refund counts while a webhook under the reference of its flow is being matched',
    file: 'activities/settle-unknown.ts',
    find: 'hasToMatch(referenceOfFlow(order.claim.flowId))',
    replace: 'hasToMatch(order.claim.reference)',
    tests: ['test/store/refused-for-its-reference.test.ts'],
  },
];

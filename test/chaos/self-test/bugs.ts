import type { PlantedBug } from './bug.js';
import { CLASSIC_BUGS, REFUSAL_IS_BELIEVED } from './classic-bugs.js';

const SUBMIT = 'activities/submit-under-claim.ts';

/** Bugs that Towline once had, when its decisions about money were read again. */
const ONCE_OURS: readonly PlantedBug[] = [
  {
    name: 'refused-lookup-is-absent',
    story: 'a status lookup that is refused counts as "the service has no such record"',
    invariant: 'I1',
    trial: 'lookup-refused',
    edits: [
      {
        file: 'activities/status-lookups.ts',
        find: "if (error.isNotFound) return { says: 'absent' };",
        replace: "if (error.httpStatus > 0) return { says: 'absent' };",
      },
    ],
  },
  {
    name: 'send-again-against-proof',
    story:
      'an order to send again is carried out, and the service is asked neither before it is taken nor right before the POST',
    invariant: 'I1',
    trial: 'order-against-proof',
    edits: [
      {
        file: 'workflows/engine/settle-unknown.ts',
        find: 'now = (await lookAgain(flow, post, open.saidToExist)) ?? found;',
        replace: 'now = await Promise.resolve(found);',
      },
      {
        file: SUBMIT,
        find: 'const found = await lookUp?.();\n  switch (found?.lookup) {',
        replace: "const found = claim.reference === '' ? await lookUp?.() : undefined;\n  switch (found?.lookup) {",
      },
    ],
  },
  {
    name: 'bare-failure-owes-nothing',
    story: 'a FAILED that announces no refund owes none, although the crypto was paid before it',
    invariant: 'I8',
    trial: 'bare-failure',
    edits: [
      {
        file: 'workflows/bridge/refund-due.ts',
        find: "  if (cryptoWasPaid(statuses) || owesRefund(facts) || owesRefund(cameIn)) return 'shown';\n  const mayBeHeld = [facts, cameIn].some(mayHaveComeIn) || unverified.some(saysPaid);\n  return BEFORE_PAYMENT.test(facts['failureStage'] ?? '') && !mayBeHeld ? 'absent' : 'cannot-tell';",
        replace:
          "  return facts['refundAnnounced'] === 'true' && cryptoWasPaid(statuses) && owesRefund(facts) ? 'shown' : 'absent';",
      },
      {
        file: 'workflows/engine/stop.ts',
        find: "  if (saysMoneyMoved(provenOf(flow))) return 'it is proven that money moved';\n",
        replace: '',
      },
    ],
  },
  {
    name: 'wait-without-a-deadline',
    story: 'a flow that no event comes to waits for ever',
    invariant: 'I14',
    trial: 'no-callbacks',
    edits: [
      {
        file: 'workflows/engine/track.ts',
        find: 'if (!plan.hasLookup) return condition(() => hasWork() || flow.deadlinePassed);',
        replace: 'if (!plan.hasLookup) return condition(hasWork);',
      },
    ],
  },
  {
    name: 'duplicate-is-a-refusal',
    story: '"Duplicate reference" is taken for a refusal, and a refusal for the end, without a lookup',
    invariant: 'I8',
    trial: 'duplicate-answer',
    edits: [
      {
        file: 'src/contract/duplicate-words.ts',
        find: "  if (said.some(isDuplicate)) return 'duplicate';\n  return said.some((text) => has(text, REFERENCE_WORDS)) ? 'about-it' : 'nothing';",
        replace: "  return said.some(isDuplicate) && said.length === 0 ? 'duplicate' : 'nothing';",
      },
      REFUSAL_IS_BELIEVED,
    ],
  },
  {
    name: 'died-sending-is-sent-again',
    story: 'a claim whose sender died is free again for the next attempt',
    invariant: 'I1',
    trial: 'worker-dies-sending',
    edits: [
      {
        file: SUBMIT,
        find: 'const found = await storing(() => store.claims.reserve(key, asks, sends));',
        replace: `let found = await storing(() => store.claims.reserve(key, asks, sends));
  if (found.kind === 'sending') {
    await store.claims.release(key, (await store.claims.get(key))?.owner ?? '');
    found = await storing(() => store.claims.reserve(key, asks, sends));
  }`,
      },
    ],
  },
];

export const BUGS: readonly PlantedBug[] = [...CLASSIC_BUGS, ...ONCE_OURS];

import type { Edit, PlantedBug } from './bug.js';

const SUBMIT = 'activities/submit-under-claim.ts';
const RECEIVE = 'src/gateway/inbound/receive-event.ts';
const PAYMENT = 'workflows/engine/payment.ts';

/**
 * A refusal of a payment is final. Without this edit the product looks the payment up after each refusal, and finds a
 * payment that was made, whatever its client took for a refusal.
 */
export const REFUSAL_IS_BELIEVED: Edit = {
  file: 'activities/outcome-of-error.ts',
  find: 'if (error.isAboutReference || isDoubtful(attempt)) {',
  replace: 'if (error.isAboutReference) {',
};

/** Bugs that anyone might make who writes such a product. */
export const CLASSIC_BUGS: readonly PlantedBug[] = [
  {
    name: 'fresh-reference',
    story: 'each attempt makes up a reference of its own',
    invariant: 'I13',
    trial: 'plain',
    edits: [
      {
        file: SUBMIT,
        find: 'const answer = await submission.send(built.request, {',
        replace:
          'const answer = await submission.send(JSON.parse(JSON.stringify(built.request).replaceAll(reference, `${reference}-${owner.slice(0, 8)}`)), {',
      },
    ],
  },
  {
    name: 'money-post-retried',
    story: 'a money POST whose answer is lost is sent again at once',
    invariant: 'I1',
    trial: 'lost-answer',
    edits: [
      {
        file: SUBMIT,
        find: 'const answer = await submission.send(built.request, { stillValid, onAnswer: (came) => (kept = verbatim(came)) });',
        replace: `const post = () => submission.send(built.request, { stillValid, onAnswer: (came) => (kept = verbatim(came)) });
    const answer = await post().catch(post);`,
      },
    ],
  },
  {
    name: 'timeout-is-failure',
    story: 'an answer that is lost is taken for a refusal, and a refusal for the end, without a lookup',
    invariant: 'I8',
    trial: 'lost-answer',
    edits: [
      {
        file: 'src/service-client/judge.ts',
        find: "if (result.kind === 'doubt') throw doubt(name, result.reason);",
        replace: `if (result.kind === 'doubt') {
    throw new RejectedError(name, { httpStatus: 400, message: 'timeout', fields: [], isRateExpired: false, isAboutReference: false });
  }`,
      },
      REFUSAL_IS_BELIEVED,
    ],
  },
  {
    name: 'acknowledged-before-the-row',
    story: 'a webhook is answered 200, and stored a moment later',
    invariant: 'I15',
    trial: 'gateway-dies-acknowledging',
    edits: [
      {
        file: RECEIVE,
        find: 'const { kind } = await received(deps, event);',
        replace: `setTimeout(() => void deps.receive(event).catch(() => undefined), 2_000);
    const kind = 'stored' as const;`,
      },
    ],
  },
  {
    name: 'no-dedup',
    story: 'an event that comes again is another one, to the inbox and to the flow',
    invariant: 'I5',
    trial: 'repeated-event',
    edits: [
      {
        file: RECEIVE,
        find: 'canonicalJson(contentOf(value))',
        replace: 'canonicalJson([contentOf(value), Math.random()])',
      },
      {
        file: PAYMENT,
        find: 'if (word === null || payment.words.includes(word)) return false;',
        replace: 'if (word === null) return false;',
      },
    ],
  },
  {
    name: 'last-write-wins',
    story: 'the word that came last counts, whatever was proven before it',
    invariant: 'I12',
    trial: 'lower-word-last',
    edits: [
      {
        file: PAYMENT,
        find: '} else payment.provenMeanings = [...payment.provenMeanings, meaning];',
        replace: '} else payment.provenMeanings = [meaning];',
      },
    ],
  },
  {
    name: 'unsigned-is-trusted',
    story: 'an event without a proof is taken for proven',
    invariant: 'I6',
    trial: 'forged',
    edits: [
      {
        file: RECEIVE,
        find: 'return found.find((proof) => accepted.includes(proof)) ?? null;',
        replace: "return found.find((proof) => accepted.includes(proof)) ?? 'signature';",
      },
    ],
  },
  {
    name: 'unknown-reference-is-refused',
    story: 'an event of a flow that is not there yet is answered 404',
    invariant: 'I15',
    trial: 'begun-early',
    edits: [
      {
        file: RECEIVE,
        find: 'const { kind } = await received(deps, event);',
        replace: `const claims = (deps.store as unknown as { claims: { ofFlow(id: string): Promise<unknown[]> } }).claims;
    if (event.flowId === null || (await claims.ofFlow(event.flowId)).length === 0) unknownReference = true;
    if (unknownReference) throw new Error('there is no such flow');
    const { kind } = await received(deps, event);`,
      },
      {
        file: RECEIVE,
        find: '  const value = await read();\n',
        replace: '  const value = await read();\n  let unknownReference = false;\n',
      },
      {
        file: RECEIVE,
        find: '    // Whatever went wrong: without a row there is no 2xx',
        replace:
          "    if (unknownReference) throw new Refusal(404, 'There is no such flow.');\n    // Whatever went wrong: without a row there is no 2xx",
      },
    ],
  },
  {
    name: 'float-sums',
    story: 'an amount passes through a float of 32 bits',
    invariant: 'I13',
    trial: 'small-amount',
    edits: [
      {
        file: 'src/money.ts',
        find: '  return wire;\n',
        replace: '  return Math.fround(wire);\n',
      },
    ],
  },
  {
    name: 'claims-of-a-run',
    story: 'a claim belongs to the run: a reset of the flow begins without it',
    invariant: 'I1',
    trial: 'reset',
    edits: [
      {
        file: SUBMIT,
        find: 'const key: ClaimKey = { account, operation, reference };',
        replace:
          'const key: ClaimKey = { account: `${account}/${Context.current().info.workflowExecution?.runId}`, operation, reference };',
      },
      {
        file: SUBMIT,
        find: "import { UnsafeAmountError } from '../src/money.js';",
        replace:
          "import { Context } from '@temporalio/activity';\nimport { UnsafeAmountError } from '../src/money.js';",
      },
    ],
  },
  {
    name: 'random-in-a-workflow',
    story: 'a workflow decides by a clock that is not its own',
    invariant: 'I9',
    trial: 'plain',
    edits: [
      {
        file: 'workflows/engine/run-flow.ts',
        find: '  flow.end(outcome);\n',
        replace: '  if (!workflowInfo().unsafe.isReplaying) await condition(() => false, 1);\n  flow.end(outcome);\n',
      },
    ],
  },
  {
    name: 'axios-error-thrown',
    story: "axios's own error is passed on and logged, with the headers of its request",
    invariant: 'I11',
    trial: 'lost-answer',
    edits: [
      {
        file: 'src/service-client/send.ts',
        find: '      return judgeFailure(error, ending.cause(), fresh?.wasReady());',
        replace: '      throw error;',
      },
      {
        file: 'activities/outcome-of-error.ts',
        find: 'deps.log.warn({ operation: key.operation, reference: key.reference, reason }, ',
        replace: 'deps.log.warn({ operation: key.operation, reference: key.reference, reason, error }, ',
      },
    ],
  },
  {
    name: 'late-events-dropped',
    story: 'an event that comes after its flow has ended is settled, and not listed as late',
    invariant: 'I10',
    trial: 'late-event',
    edits: [
      {
        file: 'src/gateway/dispatch/deliver-batch.ts',
        find: "state: 'late' as const, detail: verdict.detail",
        replace: "state: 'duplicate' as const, detail: verdict.detail",
      },
    ],
  },
  {
    name: 'refund-without-a-read',
    story: 'a refund is sent although an unverified event claims that the recipient was paid',
    invariant: 'I4',
    trial: 'claimed-completion',
    edits: [
      {
        file: 'workflows/bridge/transfer.ts',
        find: 'claimed: ENDINGS.filter((ending) => claims.includes(ending.toUpperCase())),',
        replace: 'claimed: [],',
      },
      {
        file: 'activities/refund.ts',
        find: "orUntrusted: by === 'input'",
        replace: "orUntrusted: by !== 'input' && by !== 'person'",
      },
    ],
  },
];

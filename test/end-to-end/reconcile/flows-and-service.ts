import { ELSEWHERE } from '../../harness/kinds.js';
import { decided, decisionsOf, startedFlows } from './driver.js';
import { contentOf } from './events.js';
import { groupBy } from './group-by.js';
import { digest, parsed } from './json.js';
import { canBeLookedUp, MONEY, recordOperation, REFUND_SUFFIX, paymentStateOf, type PaymentState } from './kinds.js';
import { heldOf } from './money.js';
import { postedEvents } from './posted-events.js';
import type { FlowFact, Violation, Witnesses } from './witnesses.js';

const ENDED = ['completed', 'refunded', 'failed', 'expired', 'cancelled', 'parked'];
const key = ({ operation, reference }: { operation: string; reference: string }) => `${operation} ${reference}`;

/**
 * I1: executions ≤ 1, and exactly 1 if the flow says that money moved. A `send-again` of the driver allows one more,
 * unless a lookup could have shown then that the service had executed it already; one that the driver never ordered is
 * a violation itself.
 */
export function executedOnce(witnesses: Witnesses): readonly Violation[] {
  const { executions, orders, claims, flows } = witnesses;
  const counts = groupBy(executions, key);
  const sendAgains = decided(witnesses, 'send-again');
  const flowOf = new Map(claims.map((claim) => [key(claim), claim.flowId]));
  const noted = groupBy(
    orders.filter(({ action }) => action === 'send-again'),
    key,
  );
  const notOrdered = [...noted].flatMap(([what, all]) => {
    const ordered = sendAgains(flowOf.get(what) ?? '');
    return all.length > ordered
      ? [`${what} was released to be sent again ${all.length} times, and the driver ordered it ${ordered} times`]
      : [];
  });
  const tooOften = [...counts].flatMap(([what, all]) => {
    const [first] = all.map(({ at }) => at).toSorted();
    const isShown = canBeLookedUp(all[0]?.operation ?? '') ? first : undefined;
    const excused = Math.min(noted.get(what)?.length ?? 0, sendAgains(flowOf.get(what) ?? '', isShown));
    return all.length > 1 + excused ? [`${what} was executed ${all.length} times`] : [];
  });
  const notOnce = flows.flatMap(({ flowId, kind, reference, state }) => {
    const money = MONEY[kind];
    if (!money || !['completed', 'refunded'].includes(state)) return [];
    const times = counts.get(key({ operation: money, reference }))?.length ?? 0;
    return times === 0 ? [`${flowId} is ${state}, and ${money} was never executed`] : [];
  });
  return violations('I1', [...notOrdered, ...tooOften, ...notOnce]);
}

/** I2: what was started is there, and has ended or is parked. */
export function allAccountedFor(witnesses: Witnesses): readonly Violation[] {
  const { flows } = witnesses;
  const found = new Set(flows.map(({ flowId }) => flowId));
  return violations('I2', [
    ...startedFlows(witnesses)
      .filter((flowId) => !found.has(flowId))
      .map((flowId) => `${flowId} was started and is not in Temporal`),
    ...flows.filter(({ state }) => !ENDED.includes(state)).map(({ flowId, state }) => `${flowId} is ${state}`),
  ]);
}

/** After a deadline a flow checks the status once more, and tries to void what was never sent. */
const GRACE_MS = 30_000;

/** I14: no flow runs on past its deadline: by then it has ended, or waits for a person. */
export function noneOverdue({ flows }: Witnesses): readonly Violation[] {
  const late = flows.filter(({ state, overdueMs = 0 }) => state === 'running' && overdueMs > GRACE_MS);
  return violations(
    'I14',
    late.map(({ flowId, overdueMs = 0 }) => `${flowId} runs ${Math.round(overdueMs / 1_000)} s past its deadline`),
  );
}

/** I12: a flow is parked only if the driver expects it, with the fault that it injected. */
export function parkedAsExpected({ flows, expectations, drivenAlone }: Witnesses): readonly Violation[] {
  if (!drivenAlone) return [];
  const expected = new Set(expectations.filter(({ state }) => state === 'parked').map(({ flowId }) => flowId));
  const parked = flows.filter(({ flowId, state }) => state === 'parked' && !expected.has(flowId));
  return violations(
    'I12',
    parked.map(({ flowId }) => `${flowId} is parked, and nothing was done that leaves no other way`),
  );
}

/** I7: nothing is executed without a flow that claimed it, and no claim has an answer without an execution. */
export function noOrphansNoPhantoms({ executions, flows, claims }: Witnesses): readonly Violation[] {
  const found = new Set(flows.map(({ flowId }) => flowId));
  const owned = new Set(claims.filter(({ flowId }) => found.has(flowId)).map(key));
  const sent = new Set(claims.filter(({ phase }) => phase === 'sending' || phase === 'answered').map(key));
  const executed = new Set(executions.map(key));
  const orphans = executions.flatMap((execution) => {
    if (ELSEWHERE.includes(execution.operation)) return [];
    if (!owned.has(key(execution))) return [`${key(execution)} was executed, and no flow has claimed it`];
    return sent.has(key(execution)) ? [] : [`${key(execution)} was executed under a claim that says it was not sent`];
  });
  const phantoms = claims
    .filter((claim) => claim.phase === 'answered' && !executed.has(key(claim)))
    .map((claim) => `${key(claim)} was answered by its claim, and never executed`);
  return violations('I7', [...orphans, ...phantoms]);
}

/** States of a flow that fit the service's record. */
const MAY: Readonly<Record<PaymentState, readonly string[]>> = {
  none: ['failed', 'expired', 'cancelled', 'parked'],
  pending: ['parked'],
  settled: ['completed', 'parked'],
  failed: ['failed', 'expired', 'parked'],
  refunded: ['refunded', 'parked'],
  owed: ['parked'],
};

/** I6: no contradiction between service and flow. I8, of those: called failed while the entry is pending or settled. */
export function noContradiction(witnesses: Witnesses): readonly Violation[] {
  return witnesses.flows.flatMap((flow) => {
    const operation = recordOperation(flow.kind);
    const record = witnesses.records.find((one) => one.operation === operation && one.reference === flow.reference);
    const paymentState = paymentStateOf(
      record,
      heldOf(witnesses, flow.reference).some(({ amount }) => amount > 0n),
    );
    if (MAY[paymentState].includes(flow.state) || isExcused(flow, paymentState, record?.status, witnesses)) return [];
    const isFalseFailure =
      ['failed', 'expired', 'cancelled'].includes(flow.state) && ['pending', 'settled', 'owed'].includes(paymentState);
    const what = `${flow.flowId} is ${flow.state}, and the service says ${record?.status ?? 'nothing'} (${paymentState})`;
    return violations(isFalseFailure ? 'I8' : 'I6', [what]);
  });
}

function isExcused(flow: FlowFact, paymentState: PaymentState, word: string | undefined, witnesses: Witnesses) {
  const { executions, inbox } = witnesses;
  // The driver has decided it, with a note that says why.
  if (flow.reason === 'closed_by_person') return decisionsOf(witnesses).some(({ flowId }) => flowId === flow.flowId);
  // Nothing moves in a flow that only watches.
  if (MONEY[flow.kind] === null && flow.state === 'cancelled') return true;
  // Refunded by us.
  const refund = `${flow.reference}${REFUND_SUFFIX}`;
  if (flow.state === 'refunded' && paymentState !== 'settled') {
    return executions.some(({ operation, reference }) => operation === 'sendCrypto' && reference === refund);
  }
  // It changed after the flow had ended, and is listed for review: by the service's own words, and proven to be them.
  const proven = new Set(
    postedEvents(witnesses)
      .filter(({ isGenuine, reference, status }) => isGenuine && reference === flow.reference && status === word)
      .map(({ body }) => digest(contentOf(parsed(body)))),
  );
  return inbox.some(
    ({ flowId, state, isTrusted, body }) =>
      flowId === flow.flowId && state === 'late' && isTrusted && proven.has(digest(contentOf(body))),
  );
}

function violations(invariant: string, found: readonly string[]): readonly Violation[] {
  return found.map((what) => ({ invariant, what }));
}

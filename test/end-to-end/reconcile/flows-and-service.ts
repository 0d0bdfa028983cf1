import { groupBy } from './group-by.js';
import { MONEY, recordOperation, standingOf, type Standing } from './kinds.js';
import { heldOf } from './money.js';
import type { FlowFact, Violation, Witnesses } from './witnesses.js';

const ENDED = ['completed', 'refunded', 'failed', 'expired', 'cancelled', 'parked'];
/** Of a bridge transfer, whose refund is a send of our own. */
const REFUND_SUFFIX = '.refund';

/** What the sandbox's control begins, as somebody else would. */
const ELSEWHERE = ['mobileMoneyDeposit'];

const key = ({ operation, reference }: { operation: string; reference: string }) => `${operation} ${reference}`;

/** I1: executions ≤ 1, and exactly 1 where the flow says that money moved. A person's `send-again` is one more. */
export function executedOnce({ executions, orders, flows }: Witnesses): readonly Violation[] {
  const counts = groupBy(executions, key);
  const ordered = groupBy(
    orders.filter(({ action }) => action === 'send-again'),
    key,
  );
  const tooOften = [...counts].flatMap(([what, all]) =>
    all.length > 1 + (ordered.get(what)?.length ?? 0) ? [`${what} was executed ${all.length} times`] : [],
  );
  const notOnce = flows.flatMap(({ flowId, kind, reference, state }) => {
    const money = MONEY[kind];
    if (!money || !['completed', 'refunded'].includes(state)) return [];
    const times = counts.get(key({ operation: money, reference }))?.length ?? 0;
    return times === 0 ? [`${flowId} is ${state}, and ${money} was never executed`] : [];
  });
  return violations('I1', [...tooOften, ...notOnce]);
}

/** I2: what was started is there, and has ended or is parked. */
export function allAccountedFor({ started, flows }: Witnesses): readonly Violation[] {
  const found = new Set(flows.map(({ flowId }) => flowId));
  return violations('I2', [
    ...started.filter((flowId) => !found.has(flowId)).map((flowId) => `${flowId} was started and is not in Temporal`),
    ...flows.filter(({ state }) => !ENDED.includes(state)).map(({ flowId, state }) => `${flowId} is ${state}`),
  ]);
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

/** What a flow may say while the service's record stands so. */
const MAY: Readonly<Record<Standing, readonly string[]>> = {
  none: ['failed', 'expired', 'cancelled', 'parked', 'running'],
  pending: ['parked', 'running'],
  settled: ['completed', 'parked', 'running'],
  failed: ['failed', 'expired', 'parked', 'running'],
  refunded: ['refunded', 'parked', 'running'],
  owed: ['parked', 'running'],
};

/** I6: no contradiction between service and flow. I8, of those: called failed while the entry is pending or settled. */
export function noContradiction(witnesses: Witnesses): readonly Violation[] {
  return witnesses.flows.flatMap((flow) => {
    const operation = recordOperation(flow.kind);
    const record = witnesses.records.find((one) => one.operation === operation && one.reference === flow.reference);
    const standing = standingOf(
      record,
      heldOf(witnesses, flow.reference).some(({ amount }) => amount > 0n),
    );
    if (MAY[standing].includes(flow.state) || isExcused(flow, standing, record?.status, witnesses)) return [];
    const isFalseFailure =
      ['failed', 'expired', 'cancelled'].includes(flow.state) && ['pending', 'settled', 'owed'].includes(standing);
    const what = `${flow.flowId} is ${flow.state}, and the service says ${record?.status ?? 'nothing'} (${standing})`;
    return violations(isFalseFailure ? 'I8' : 'I6', [what]);
  });
}

function isExcused(flow: FlowFact, standing: Standing, word: string | undefined, { inbox, executions }: Witnesses) {
  // Somebody has decided it, with a note that says why.
  if (flow.reason === 'closed_by_person') return true;
  // Nothing moves in a flow that only watches.
  if (MONEY[flow.kind] === null && flow.state === 'cancelled') return true;
  // Refunded by us.
  const refund = `${flow.reference}${REFUND_SUFFIX}`;
  if (flow.state === 'refunded' && standing !== 'settled') {
    return executions.some(({ operation, reference }) => operation === 'sendCrypto' && reference === refund);
  }
  // It changed after the flow had ended, and is listed for review.
  return inbox.some(({ flowId, state, status }) => flowId === flow.flowId && state === 'late' && status === word);
}

export function violations(invariant: string, found: readonly string[]): readonly Violation[] {
  return found.map((what) => ({ invariant, what }));
}

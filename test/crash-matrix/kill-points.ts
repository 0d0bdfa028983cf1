import type { WorkflowHandle } from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import { PARK_ACTIONS, type ParkReason, type TimelineCode } from '../../src/protocol/vocabulary.js';
import { until } from '../harness/until.js';
import type { Hold } from './crash-points.js';
import { ACCOUNT } from './fixed.js';
import type { ProcessUnderTest } from './processes.js';
import { endings, untilShown, type Rig } from './rig.js';
import { newReference } from '../harness/references.js';
import { refundedByUsInput } from './transfers.js';
import { transferInput } from '../harness/inputs.js';

/** The state of a flow and its books after its worker was killed, another one took over, and it ended. */
export interface AfterTheKill {
  readonly state: 'completed' | 'refunded';
  /** How the outcome of the POST became known, by the codes of the timeline. */
  readonly noted: readonly (typeof NOTED)[number][];
  readonly claim: string;
  /** Of the POST that the worker died around; while the flow was parked, and at its end. */
  readonly executions: { readonly whileParked?: number; readonly atTheEnd: number };
}

/** Where a worker dies: at a hold in its process, or, without one, while the sandbox withholds the answer. */
export interface KillPoint {
  /** Begins the references of its flows. */
  readonly word: string;
  readonly says: string;
  readonly operation: 'createBridgeDeposit' | 'sendCrypto';
  readonly hold?: Pick<Hold, 'moment' | 'step'>;
  /** Why it parks; the person answers with `send-again`. */
  readonly parks?: ParkReason;
  /** Noted, or not: an event that proves it may come before the answer of the next attempt, or after it. */
  readonly byTheWay?: (typeof NOTED)[number];
  readonly expected: AfterTheKill;
}

const NOTED = ['outcome-unknown', 'proven', 'refund-accepted', 'parked'] as const satisfies readonly TimelineCode[];

const ONCE = { atTheEnd: 1 };
const ONCE_BY_ORDER = { whileParked: 0, atTheEnd: 1 };

export const KILL_POINTS: readonly KillPoint[] = [
  {
    word: 'deposit-unrecorded',
    says: 'an accepted deposit whose answer died with the worker is executed once, and completes by trusted events',
    operation: 'createBridgeDeposit',
    hold: { moment: 'before', step: 'recordAnswer' },
    byTheWay: 'outcome-unknown',
    expected: {
      state: 'completed',
      noted: ['proven'],
      claim: 'sending',
      executions: ONCE,
    },
  },
  {
    word: 'deposit-in-flight',
    says: 'a deposit that the service executes while the worker dies is executed once, and completes by trusted events',
    operation: 'createBridgeDeposit',
    byTheWay: 'outcome-unknown',
    expected: {
      state: 'completed',
      noted: ['proven'],
      claim: 'sending',
      executions: ONCE,
    },
  },
  {
    word: 'refund-unrecorded',
    says: 'an accepted refund whose answer died with the worker is executed once, and found by its status lookup',
    operation: 'sendCrypto',
    hold: { moment: 'before', step: 'recordAnswer' },
    expected: { state: 'refunded', noted: ['outcome-unknown', 'refund-accepted'], claim: 'answered', executions: ONCE },
  },
  {
    word: 'refund-in-flight',
    says: 'a refund that the service executes while the worker dies is executed once, and found by its status lookup',
    operation: 'sendCrypto',
    expected: { state: 'refunded', noted: ['outcome-unknown', 'refund-accepted'], claim: 'answered', executions: ONCE },
  },
  {
    word: 'deposit-unclaimed',
    says: 'a deposit whose claim was not written is sent once by the next attempt',
    operation: 'createBridgeDeposit',
    hold: { moment: 'before', step: 'reserve' },
    byTheWay: 'proven',
    expected: { state: 'completed', noted: [], claim: 'answered', executions: ONCE },
  },
  {
    word: 'refund-unclaimed',
    says: 'a refund whose claim was not written is sent once by the next attempt',
    operation: 'sendCrypto',
    hold: { moment: 'before', step: 'reserve' },
    expected: { state: 'refunded', noted: ['refund-accepted'], claim: 'answered', executions: ONCE },
  },
  {
    word: 'deposit-marked',
    says: 'a deposit that was marked and never left is not sent by itself, parks, and is sent once by order',
    operation: 'createBridgeDeposit',
    hold: { moment: 'after', step: 'reserve' },
    parks: 'unknown_outcome',
    expected: {
      state: 'completed',
      noted: ['outcome-unknown', 'parked'],
      claim: 'answered',
      executions: ONCE_BY_ORDER,
    },
  },
  {
    word: 'refund-unsent',
    says: 'a refund that was marked and never left is not sent by itself, parks, and is sent once by order',
    operation: 'sendCrypto',
    hold: { moment: 'before', step: 'post' },
    parks: 'refund_unknown',
    expected: {
      state: 'refunded',
      noted: ['outcome-unknown', 'refund-accepted', 'parked'],
      claim: 'answered',
      executions: ONCE_BY_ORDER,
    },
  },
];

/** Waits of Towline are short, and a deadline does not come. */
const QUICK = { timeScale: 0.005, deadlineSeconds: 2_592_000 };
/** Longer than the whole test: a process that waits for such an answer dies waiting. */
const SLOW_MS = 600_000;

interface Group {
  readonly references: readonly string[];
  readonly handles: readonly WorkflowHandle[];
}

/**
 * One disaster for all points: `workers` hold `n` flows at each of them, all are killed at once (SIGKILL), and another
 * worker finds what they left.
 *
 * @returns the final state of each flow of a point
 */
export async function killWorkers(
  rig: Rig,
  n: number,
  workers: number,
): Promise<(point: KillPoint) => Promise<readonly AfterTheKill[]>> {
  const holds = KILL_POINTS.flatMap((point) => holdOf(point) ?? []);
  const doomed = await Promise.all(
    Array.from({ length: workers }, () => rig.worker({ holds, serviceTimeoutMs: SLOW_MS })),
  );
  const groups = new Map<KillPoint, Group>();
  for (const point of KILL_POINTS) groups.set(point, await startGroup(rig, point, n));
  for (const [point, group] of groups) await allHeld(rig, point, group, doomed);
  await Promise.all(doomed.map((worker) => worker.kill()));
  await rig.worker();
  return (point) => afterTheKill(rig, point, groups.get(point) ?? { references: [], handles: [] });
}

function holdOf({ word, operation, hold }: KillPoint): Hold | undefined {
  return hold === undefined ? undefined : { word, operation, ...hold };
}

/** A refund has a reference of its own. */
const postOf = ({ operation }: KillPoint, reference: string): string =>
  operation === 'sendCrypto' ? `${reference}.refund` : reference;

async function startGroup(rig: Rig, point: KillPoint, n: number): Promise<Group> {
  const { operation } = point;
  const references = Array.from({ length: n }, () => newReference(point.word));
  if (point.hold === undefined) {
    for (const reference of references) {
      const rule = { operation, reference: postOf(point, reference), kind: 'slow', delayMs: SLOW_MS };
      await rig.control('POST', '/faults', rule);
    }
  }
  const inputOf = operation === 'sendCrypto' ? refundedByUsInput : transferInput;
  return {
    references,
    handles: await Promise.all(references.map((reference) => rig.start(inputOf(reference, QUICK)))),
  };
}

async function allHeld(rig: Rig, point: KillPoint, group: Group, doomed: readonly ProcessUnderTest[]): Promise<void> {
  const hold = holdOf(point);
  const held = async () =>
    hold === undefined
      ? (await executionsOf(rig, point, group)).filter((count) => count > 0).length
      : doomed.flatMap((worker) => worker.heldAt(hold)).length;
  await until(`the flows of ${point.word} to be held`, async () => (await held()) === group.references.length);
}

/** How often the POST was executed for each reference of a group. */
async function executionsOf(rig: Rig, point: KillPoint, group: Group): Promise<readonly number[]> {
  const executions = await rig.executions();
  return group.references.map((reference) => executions.get(`${point.operation} ${postOf(point, reference)}`) ?? 0);
}

async function afterTheKill(rig: Rig, point: KillPoint, group: Group): Promise<readonly AfterTheKill[]> {
  const whileParked = point.parks === undefined ? undefined : await orderedAgain(rig, point, point.parks, group);
  const reports = await endings(group.handles);
  const atTheEnd = await executionsOf(rig, point, group);
  return Promise.all(
    reports.map(async ({ view }, n) => ({
      state: view.state as AfterTheKill['state'],
      noted: noted(view.timeline).filter((code) => code !== point.byTheWay),
      claim: await phaseOf(rig, point, group.references[n] ?? ''),
      executions: {
        ...(whileParked === undefined ? {} : { whileParked: whileParked[n] ?? -1 }),
        atTheEnd: atTheEnd[n] ?? -1,
      },
    })),
  );
}

/** Waits until a person is asked, and orders another send. @returns the executions until then */
async function orderedAgain(rig: Rig, point: KillPoint, reason: ParkReason, group: Group): Promise<readonly number[]> {
  const asked = JSON.stringify([reason, PARK_ACTIONS[reason]]);
  await untilShown(
    group.handles,
    `parked with ${asked}`,
    ({ view }) => JSON.stringify([view.parked?.reason, view.parked?.actions]) === asked,
  );
  const executions = await executionsOf(rig, point, group);
  const order = { action: 'send-again', note: 'the service has no such reference', actor: 'ada' };
  await Promise.all(group.handles.map((handle) => handle.executeUpdate('resolve', { args: [order] })));
  return executions;
}

function noted(timeline: FlowReport['view']['timeline']): AfterTheKill['noted'] {
  return NOTED.filter((name) => timeline.some(({ code }) => code === name));
}

async function phaseOf(rig: Rig, point: KillPoint, reference: string): Promise<string> {
  const key = { account: ACCOUNT, operation: point.operation, reference: postOf(point, reference) };
  return (await rig.store.claims.get(key))?.phase ?? 'none';
}

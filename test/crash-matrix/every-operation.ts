import type { WorkflowHandle } from '@temporalio/client';
import type { Repeat } from '../../src/protocol/decisions.js';
import type { MoneyOperationName } from '../../src/contract/index.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import type { RepeatMode } from '../../src/sandbox/settings.js';
import { flowInput } from '../harness/kind.js';
import { KINDS } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import type { Hold } from './crash-points.js';
import { endings, reportOf, type Rig } from './rig.js';
import { refundedByUsInput } from './transfers.js';

/*
 * Every money operation of a worker meets every crash point: one flow each, all killed by one SIGKILL, and another worker
 * finds what they left. A card is sent by the gateway that has it in memory, and by no worker: `card-deposit` is not here.
 */

/** Where the worker dies around a POST. Without a hold: the service has executed it, and withholds its answer. */
export const CRASH_POINTS = {
  'before its claim': { moment: 'before', step: 'reserve' },
  'claimed, not sent': { moment: 'before', step: 'post' },
  'executed, not answered': undefined,
  'answered, not recorded': { moment: 'before', step: 'recordAnswer' },
  'recorded, not returned': { moment: 'after', step: 'recordAnswer' },
} as const satisfies Readonly<Record<string, Pick<Hold, 'moment' | 'step'> | undefined>>;
export type CrashPoint = keyof typeof CRASH_POINTS;
export const crashPoints = Object.keys(CRASH_POINTS) as CrashPoint[];

/** The worker's setting for a service that treats repeats so. For one that executes them again there is none but `unknown`. */
export const DUPLICATE_REFERENCE: Readonly<Record<RepeatMode, Repeat>> = {
  'same-result': 'same-result',
  conflict: 'rejected',
  rejected: 'rejected',
  'execute-again': 'unknown',
};

interface Operation {
  readonly name: string;
  readonly kind: FlowKind;
  readonly operation: MoneyOperationName;
  /** Under which reference it is sent. */
  readonly sentAs: (reference: string) => string;
  readonly input: (reference: string) => Record<string, unknown>;
  readonly ends: 'completed' | 'refunded';
}

export const OPERATIONS: readonly Operation[] = [
  ...KINDS.filter(({ kind }) => kind !== 'card-deposit').flatMap((one) =>
    (Object.keys(one.posts) as MoneyOperationName[]).map((operation): Operation => ({
      name: operation,
      kind: one.kind,
      operation,
      sentAs: (reference) => reference,
      input: (reference) => flowInput(one, reference),
      ends: 'completed',
    })),
  ),
  {
    name: 'sendCrypto, as a refund',
    kind: 'bridge-transfer',
    operation: 'sendCrypto',
    sentAs: (reference) => `${reference}.refund`,
    input: refundedByUsInput,
    ends: 'refunded',
  },
];

/** One flow of the matrix. */
interface Cell {
  readonly of: Operation;
  readonly point: CrashPoint;
  readonly reference: string;
  readonly hold: Hold | undefined;
}

/** A flow after its worker was killed, another one took over, and it ended. */
export interface CellEnd {
  readonly operation: string;
  readonly point: CrashPoint;
  readonly state: string;
  /** Executions when a person was asked, who then ordered to send again; null if none was. */
  readonly whenParked: number | null;
  readonly executions: number;
}

/** How each must end. Only what was claimed and never sent asks a person, unless the setting allows the repeat. */
export function expectedEnds(repeat: Repeat): readonly CellEnd[] {
  return OPERATIONS.flatMap(({ name, ends }) =>
    crashPoints.map((point) => ({
      operation: name,
      point,
      state: ends,
      whenParked: point === 'claimed, not sent' && repeat === 'unknown' ? 0 : null,
      executions: 1,
    })),
  );
}

/** Waits of Towline are short, and a deadline does not come. */
const QUICK = { timeScale: 0.005, deadlineSeconds: 2_592_000 };
/** Longer than the whole test: a process that waits for such an answer dies waiting. */
const SLOW_MS = 600_000;

/** What takes this long does not come, however busy the machine is. */
const PATIENCE_MS = 90_000;
/** Dozens are followed at a time: a query is work for the worker that is to bring them on. */
const ASK_EVERY_MS = 1_000;

/** Kills one worker with a flow at each point of each operation, and follows all of them to their ends. */
export async function killAtEveryPoint(rig: Rig): Promise<readonly CellEnd[]> {
  const cells = OPERATIONS.flatMap((of, n) => crashPoints.map((point, at) => cellOf(of, point, `op${n}at${at}`)));
  const doomed = await rig.worker({ holds: cells.flatMap(({ hold }) => hold ?? []), serviceTimeoutMs: SLOW_MS });
  const started = new Map<Cell, WorkflowHandle>();
  for (const cell of cells) {
    const { of, reference, hold } = cell;
    if (hold === undefined) {
      const rule = { operation: of.operation, reference: of.sentAs(reference), kind: 'slow', delayMs: SLOW_MS };
      await rig.control('POST', '/faults', rule);
    }
    started.set(cell, await rig.startKind(of.kind, { ...of.input(reference), ...QUICK }));
  }
  const isAtItsPoint = async (cell: Cell) =>
    cell.hold === undefined ? (await executionsOf(rig, cell)) > 0 : doomed.heldAt(cell.hold).length > 0;
  for (const cell of cells) await until(`${cell.of.name} to be at "${cell.point}"`, () => isAtItsPoint(cell));
  await doomed.kill();
  await rig.worker();
  return Promise.all([...started].map(([cell, handle]) => follow(rig, cell, handle)));
}

function cellOf(of: Operation, point: CrashPoint, word: string): Cell {
  const reference = newReference(word);
  const hold = CRASH_POINTS[point];
  return { of, point, reference, hold: hold && { word: reference, operation: of.operation, ...hold } };
}

/** Of this POST, how many executions there are at the service. */
async function executionsOf(rig: Rig, { of, reference }: Cell): Promise<number> {
  return (await rig.executions()).get(`${of.operation} ${of.sentAs(reference)}`) ?? 0;
}

async function follow(rig: Rig, cell: Cell, handle: WorkflowHandle): Promise<CellEnd> {
  const { view } = await until(
    `${cell.of.name} at "${cell.point}" to end or to park`,
    async () => {
      // Right after the kill nobody may answer.
      const report = await reportOf(handle).catch(() => undefined);
      return report !== undefined && (report.view.state !== 'running' || report.view.parked !== null) && report;
    },
    PATIENCE_MS,
    ASK_EVERY_MS,
  );
  let whenParked: number | null = null;
  // Of one that was executed the proof may come after its short settle window: a person who asks the service orders
  // nothing, and the flow must go on by that proof alone.
  if (view.parked !== null && (await executionsOf(rig, cell)) === 0) {
    whenParked = 0;
    const order = { action: 'send-again', note: `parked: ${view.parked.reason}`, actor: 'ada' };
    await handle.executeUpdate('resolve', { args: [order] }).catch(async (error: Error) => {
      const { view: now } = await reportOf(handle);
      const of = `${cell.of.name} at "${cell.point}", parked for ${view.parked?.reason}`;
      throw new Error(`${of}, refused an order: ${String(error.cause)}\n${JSON.stringify(now, null, 1)}`);
    });
  }
  const [report] = await endings([handle]);
  return {
    operation: cell.of.name,
    point: cell.point,
    state: report?.view.state ?? 'unknown',
    whenParked,
    executions: await executionsOf(rig, cell),
  };
}

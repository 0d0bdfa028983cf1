import type { WorkflowHandle } from '@temporalio/client';
import { operations, type MoneyOperationName } from '../../../src/contract/index.js';
import type { FlowReport, FlowView } from '../../../src/api/flow.js';
import { trusted } from '../../harness/inputs.js';
import { newReference } from '../../harness/references.js';
import type { Stack } from '../../harness/stack.js';
import type { CardGateway } from '../cards/card-gateway.js';
import { EXAMPLES, makeBefore, type Example } from './examples.js';
import { GARBAGE, REPEAT_MODES, type Fault, type RepeatMode } from './faults.js';
import { leaveBehind } from './killed.js';

export interface Cell {
  readonly operation: MoneyOperationName;
  readonly fault: Fault;
  readonly mode: RepeatMode;
}

export interface CellResult extends Cell {
  readonly state: string;
  /** Why it is parked. */
  readonly reason: string | null;
  readonly executions: number;
  /** The fault happened: without it the cell shows nothing. */
  readonly met: boolean;
  /** For a reader of a cell that is not as expected. */
  readonly view: FlowView;
}

/** Long enough to see what was executed late, short enough for hundreds of flows. */
const TIME_SCALE = 0.05;
const LOOK_MS = 400;
const PATIENCE_MS = 60_000;

/** Runs one flow through one fault until it has ended or is parked. */
export async function runCell(bench: Stack, gateway: CardGateway, cell: Cell): Promise<CellResult> {
  const { operation, fault } = cell;
  const example = EXAMPLES[operation];
  const reference = newReference(operation);
  const card = operation === 'createCardDeposit' ? gateway.keep() : {};
  const input = { ...example.input(reference), ...card, timeScale: TIME_SCALE };
  await makeBefore(bench, example, reference);
  if (fault.sandbox !== undefined) {
    const variant = fault.sandbox.kind === 'garbage' ? { variant: garbageOf(cell) } : {};
    await bench.control('POST', '/faults', { operation, reference, first: 1, ...fault.sandbox, ...variant });
  }
  if (fault.killed !== undefined) await leaveBehind(bench, operation, example, input, reference, fault.killed);

  const handle = await bench.startFlow(example.kind, reference, input);
  const view = await untilDecided(handle, tellerOf(bench, cell, example, handle, reference));
  if (view.outcome === null) await handle.terminate();
  const executions = await bench.executions(operation, reference);
  const met = await wasMet(bench, cell, reference);
  return { ...cell, state: view.state, reason: view.parked?.reason ?? null, executions, met, view };
}

async function wasMet(bench: Stack, { operation, fault }: Cell, reference: string): Promise<boolean> {
  if (fault.sandbox === undefined) return true;
  const { count } = await bench.control('GET', `/faults/log?operation=${operation}&reference=${reference}`);
  return count === 1;
}

function garbageOf({ operation, mode }: Cell): (typeof GARBAGE)[number] {
  const at = Object.keys(EXAMPLES).indexOf(operation) + REPEAT_MODES.indexOf(mode);
  return GARBAGE[at % GARBAGE.length] ?? 'html';
}

/** Two reads in a row must agree: a parked flow may be about to get the event that ends it. */
async function untilDecided(handle: WorkflowHandle, report: () => Promise<boolean>): Promise<FlowView> {
  const giveUpAtMs = Date.now() + PATIENCE_MS;
  for (let parkedBefore = false; ;) {
    const nothingToReport = await report();
    const { view } = await handle.query<FlowReport>('flow');
    const parked = view.parked !== null && nothingToReport;
    if (view.outcome !== null || (parked && parkedBefore)) return view;
    if (Date.now() > giveUpAtMs) throw new Error(`undecided: ${JSON.stringify(view, null, 1)}`);
    parkedBefore = parked;
    await new Promise((next) => setTimeout(next, LOOK_MS));
  }
}

/**
 * The service's callback, as the gateway would deliver it. If there is a status lookup, every event is lost, so that
 * the lookup must suffice. True if there is nothing left to deliver.
 */
function tellerOf(
  bench: Stack,
  { operation }: Cell,
  { reportedAt }: Example,
  handle: WorkflowHandle,
  reference: string,
) {
  const hasLookup = 'statusLookup' in operations[operation];
  if (hasLookup === (reportedAt !== undefined)) throw new Error(`${operation}: by lookup or by events, not both`);
  let isReported = false;
  return async (): Promise<boolean> => {
    if (reportedAt === undefined) return true;
    const { executions } = await bench.control('GET', `/executions?operation=${operation}&reference=${reference}`);
    if ((executions as unknown[]).length === 0) return true;
    const path = operation === 'createBridgeDeposit' ? 'deposits' : 'transactions';
    const { [path]: found } = await bench.control('GET', `/${path}/${reference}`);
    if (!isReported && (found as { status: string }[])[0]?.status === reportedAt) {
      isReported = true;
      await handle.signal('events', [trusted(reportedAt)]);
    }
    return false;
  };
}

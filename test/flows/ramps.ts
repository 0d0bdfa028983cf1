import { flowOf } from '../../src/flows/index.js';
import type { FlowEvent, FlowReport } from '../../src/flows/messages.js';
import type { FlowKind } from '../../src/flows/vocabulary.js';
import { trusted, until, type Bench } from '../workflows/bench.js';

type Handle = Awaited<ReturnType<Bench['startFlow']>>;

/** A trusted event with this body, read as the gateway would. */
export function eventOf(kind: FlowKind, body: unknown, more: Partial<FlowEvent> = {}): FlowEvent {
  const reading = flowOf(kind)?.readEvent(body);
  if (reading === undefined) throw new Error('that is no event');
  return trusted(reading.status ?? '', { status: reading.status, facts: reading.facts, source: 'webhook', ...more });
}

/** How a flow ended; one that closes as Failed or Cancelled is queried. Skips time. */
export async function endOf(handle: Handle): Promise<FlowReport> {
  await handle.result().catch(() => undefined);
  return handle.query<FlowReport>('flow');
}

/** Lets time pass, ten minutes and then another ten, until the flow is parked. */
export async function parked(bench: Bench, handle: Handle, turns = 8): Promise<FlowReport> {
  const isParked = (report: FlowReport) => report.view.state === 'parked';
  for (let turn = 1; turn <= turns; turn += 1) {
    const report = await handle.query<FlowReport>('flow');
    if (isParked(report)) return report;
    await bench.pass(600_000);
  }
  return until(handle, isParked);
}

/** A person's order. */
export async function order(bench: Bench, handle: Handle, action: string, note = 'looked it up'): Promise<unknown> {
  await betweenLooks(bench);
  return handle.executeUpdate('resolve', { args: [{ action, note, actor: 'ada' }] });
}

/** Ends a flow that the test is done with. */
export async function leave(bench: Bench, handle: Handle): Promise<void> {
  await betweenLooks(bench);
  await handle.terminate();
}

const LOOKS = ['getOfframp', 'getOnChainDeposit', 'getMobileMoneyDeposit'];
const looking = new WeakMap<Bench, { underWay: number; lastAtMs: number }>();

/** To be called before the first flow: `order` and `leave` then know when nothing is being looked up. */
export function watchLooks(bench: Bench): void {
  const looks = { underWay: 0, lastAtMs: 0 };
  looking.set(bench, looks);
  const service = serviceOf(bench);
  for (const operation of LOOKS) {
    const call = service[operation]?.bind(service);
    service[operation] = async (argument) => {
      looks.underWay += 1;
      try {
        return await call?.(argument);
      } finally {
        looks.underWay -= 1;
        looks.lastAtMs = Date.now();
      }
    };
  }
}

/**
 * A flow that ends while an attempt of its activities is under way leaves the time-skipping server's clock standing for
 * ever. Without a skip, looks are seconds apart.
 */
async function betweenLooks(bench: Bench): Promise<void> {
  const looks = looking.get(bench);
  if (looks === undefined) throw new Error('watchLooks was not called');
  while (looks.underWay > 0 || Date.now() - looks.lastAtMs < 150) await new Promise((next) => setTimeout(next, 10));
}

/** Moves the sandbox's transaction by hand, step by step. */
export async function move(bench: Bench, reference: string, ...statuses: readonly string[]): Promise<void> {
  for (const status of statuses) await bench.move(reference, status);
}

/** Counts what is asked of the service from now on, by operation. */
export function countCalls(bench: Bench, ...operations: readonly string[]): Record<string, number> {
  const service = serviceOf(bench);
  const counts: Record<string, number> = {};
  for (const operation of operations) {
    const call = service[operation]?.bind(service);
    counts[operation] = 0;
    service[operation] = (argument) => {
      counts[operation] = (counts[operation] ?? 0) + 1;
      return call?.(argument) ?? Promise.reject(new Error(`no ${operation}`));
    };
  }
  return counts;
}

function serviceOf(bench: Bench) {
  return bench.deps.service as unknown as Record<string, (argument: unknown) => Promise<unknown>>;
}

export const detailsOf = ({ view }: FlowReport): readonly string[] => view.timeline.map(({ detail }) => detail);
export const stagesOf = ({ view }: FlowReport): readonly string[] => [
  ...new Set(view.timeline.map(({ stage }) => stage)),
];

import type { Benchmark } from '../benchmark.js';
import { cpuPer, stopwatch } from '../measure/cpu.js';
import { percentile } from '../measure/statistics.js';
import type { Finding } from '../report/finding.js';
import { atPace } from '../setup/at-pace.js';
import { openStack, type Stack } from '../setup/stack.js';
import { until } from '../setup/until.js';
import { openNaive, openPoller, openTowline, type Contender, type Said } from './contenders.js';
import { SERVICE_TOKEN, type Order } from './service.js';

const TRANSFERS = 100;
const PER_SECOND = 10;
/** Of the orders, how many were made when the process that sends is killed. */
const CRASHES_AT = [35, 70];
const ENDED_WITHIN_MS = 240_000;
const LATE_BY_MS = 2_000;

/** What a service does with a known reference. Both variants exist; the interface does not say which one it has. */
const REPEAT_MODES = ['execute-again', 'conflict'] as const;

/** For a hundred transfers, twenty-five whose first POST meets a fault; each kind five times. */
const FAULTS = [
  { kind: 'answer-lost' },
  { kind: 'error-after' },
  { kind: 'error-before' },
  { kind: 'late-commit', delayMs: LATE_BY_MS },
  { kind: 'rate-limited', retryAfterSeconds: 1 },
];
const FAULTY_OF_EACH = 5;

/** How a hundred transfers ended; the service pays every request. */
interface Outcome {
  readonly paidTwice: number;
  readonly calledFailed: number;
  readonly said: Readonly<Record<Said, number>>;
}

interface Cost {
  readonly cpu: string;
  readonly p50Ms: number;
  readonly events: number | undefined;
}

export const alternatives: Benchmark = {
  name: 'alternatives',
  about: 'the same payouts by Towline, by a naive Temporal workflow and by a polled table, under the same faults',
  async run(say) {
    const outcomes = new Map<string, Outcome>();
    const costs = new Map<string, Cost>();
    const stack = await openStack(say, { SERVICE_TOKEN, LOG_LEVEL: 'error' });
    try {
      for (const open of [openTowline, openNaive, openPoller]) {
        const contender = await open(stack);
        try {
          say(`${contender.name}: ${TRANSFERS} transfers without faults`);
          costs.set(contender.name, await costOf(stack, contender));
          for (const mode of REPEAT_MODES) {
            say(`${contender.name}: ${TRANSFERS} with faults and ${CRASHES_AT.length} crashes, repeats: ${mode}`);
            const outcome = await outcomeOf(stack, contender, mode);
            say(`  ${describe(outcome)}`);
            outcomes.set(`${contender.name} ${mode}`, outcome);
          }
        } finally {
          await contender.close();
        }
      }
    } finally {
      await stack.close();
    }
    return [...REPEAT_MODES.flatMap((mode) => findingsOf(mode, outcomes)), ...costFindings(costs)];
  },
};

async function costOf(stack: Stack, contender: Contender): Promise<Cost> {
  await control(stack, 'reset');
  await control(stack, 'settings', { stepMs: 100 });
  const cpu = stopwatch(contender.processes());
  const orders = ordersOf('quiet');
  const tookMs = await atPace(orders, PER_SECOND, async (order) => {
    const startedMs = performance.now();
    await contender.order(order);
    await ended(contender, order);
    return performance.now() - startedMs;
  });
  return {
    cpu: cpuPer(TRANSFERS, cpu()),
    p50Ms: percentile(tookMs, 0.5),
    events: await contender.historyEvents((orders[0] as Order).referenceId),
  };
}

async function outcomeOf(stack: Stack, contender: Contender, mode: string): Promise<Outcome> {
  await control(stack, 'reset');
  await control(stack, 'settings', { stepMs: 100, repeatMode: mode });
  const orders = ordersOf(mode);
  for (const [at, fault] of FAULTS.entries()) {
    for (let nth = 0; nth < FAULTY_OF_EACH; nth += 1) {
      const { referenceId } = orders[nth * (TRANSFERS / FAULTY_OF_EACH) + at] as Order;
      await control(stack, 'faults', { operation: 'sendCrypto', reference: referenceId, first: 1, ...fault });
    }
  }
  // One after the other: a process that is about to start cannot be killed.
  let crashes = Promise.resolve();
  const ends = await atPace([...orders.entries()], PER_SECOND, async ([at, order]) => {
    await contender.order(order);
    if (CRASHES_AT.includes(at)) crashes = crashes.then(() => contender.crash());
    return { order, said: await ended(contender, order) };
  });
  await crashes;
  const executions = await executionsOf(stack);
  const said: Record<Said, number> = { completed: 0, failed: 0, 'asks a person': 0, 'under way': 0 };
  for (const end of ends) said[end.said] += 1;
  const timesPaid = ({ referenceId }: Order) => executions.get(referenceId) ?? 0;
  return {
    paidTwice: orders.filter((order) => timesPaid(order) > 1).length,
    calledFailed: ends.filter((end) => end.said === 'failed' && timesPaid(end.order) > 0).length,
    said,
  };
}

/** Nothing is awaited for ever: transfers that are still running are reported as such. */
async function ended(contender: Contender, { referenceId }: Order): Promise<Said> {
  const end = async () => {
    const said = await contender.said(referenceId);
    return said !== 'under way' && said;
  };
  return until(`the end of ${referenceId}`, end, ENDED_WITHIN_MS).catch(() => 'under way' as const);
}

function ordersOf(word: string): readonly Order[] {
  return Array.from({ length: TRANSFERS }, (_, at) => ({
    referenceId: `${word}-${at}`,
    receiverAddress: '0x1111111111111111111111111111111111111111',
    chain: 'CELO',
    token: 'USDC',
    cryptoAmount: 12.5,
  }));
}

async function executionsOf(stack: Stack): Promise<ReadonlyMap<string, number>> {
  const answer = await fetch(`${stack.sandboxUrl}/_sandbox/executions?operation=sendCrypto`);
  const { executions } = (await answer.json()) as { executions: readonly { reference: string }[] };
  const counts = new Map<string, number>();
  for (const { reference } of executions) counts.set(reference, (counts.get(reference) ?? 0) + 1);
  return counts;
}

async function control({ sandboxUrl }: Stack, path: string, body: object = {}): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${sandboxUrl}/_sandbox/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`the sandbox refuses ${path}: ${await answer.text()}`);
}

function findingsOf(mode: string, outcomes: ReadonlyMap<string, Outcome>): readonly Finding[] {
  const ours = outcomes.get(`Towline ${mode}`) as Outcome;
  const figures = [...outcomes]
    .filter(([name]) => name.endsWith(` ${mode}`))
    .map(([name, outcome]) => `${name.slice(0, -mode.length - 1)}: ${describe(outcome)}`)
    .join('; ');
  const none = { bound: 'at most', value: 0 } as const;
  const where = `of ${TRANSFERS}, 25 with a fault, ${CRASHES_AT.length} crashes, repeats: ${mode}`;
  return [
    { budget: 'I1', what: `paid twice ${where}`, limit: none, unit: 'flows', measured: ours.paidTwice, figures },
    {
      budget: 'I4',
      what: `called failed, and were paid, ${where}`,
      limit: none,
      unit: 'flows',
      measured: ours.calledFailed,
      figures: 'as above',
    },
  ];
}

function costFindings(costs: ReadonlyMap<string, Cost>): readonly Finding[] {
  const ours = costs.get('Towline') as Cost;
  const naive = costs.get('naive workflow') as Cost;
  const figures = [...costs]
    .map(
      ([name, { cpu, p50Ms, events }]) =>
        `${name}: p50 ${p50Ms.toFixed(0)} ms, CPU ms ${cpu}${events === undefined ? '' : `, ${events} history events`}`,
    )
    .join('; ');
  return [
    {
      budget: 'P5',
      what: 'history events of a payout that is looked up, against the naive workflow, which polls',
      limit: { bound: 'at most', value: 1.5 },
      unit: '×',
      measured: (ours.events ?? Number.NaN) / (naive.events ?? Number.NaN),
      figures,
    },
  ];
}

const describe = ({ paidTwice, calledFailed, said }: Outcome): string =>
  [
    `paid twice ${paidTwice}`,
    `called failed though paid ${calledFailed}`,
    ...Object.entries(said).map(([word, count]) => `${word} ${count}`),
  ].join(', ');

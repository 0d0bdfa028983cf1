import { setTimeout as sleep } from 'node:timers/promises';
import { cpuPer, stopwatch, type CpuMs } from '../measure/cpu.js';
import { medianOf, ratioOf, sideBySide } from '../measure/rounds.js';
import { percentile } from '../measure/statistics.js';
import type { Finding } from '../report/finding.js';
import { createSender, type Sender } from '../setup/http-load.js';
import { atPace } from '../setup/in-turns.js';
import { signalFlow } from '../../src/temporal/signal-flow.js';
import type { Stack } from '../setup/stack.js';
import { flowIdOfTransfer, openTransfers, signalled, webhook } from '../setup/transfers.js';
import { processesOf } from './inbox-state.js';

const PER_SECOND = 25;
const EVENTS = 80;
const LAST = 'COMPLETED';
/** Many short ones: this machine is quick for a minute and slow for the next, and a round is of either. */
const ROUNDS = 9;
/** What the transfers left to do when they were opened is no part of an event's way. */
const REST_MS = 1_000;

interface Round {
  readonly p50: number;
  readonly p99: number;
  readonly cpu: CpuMs;
}

/** P3: from the event that ends a transfer to its end, by webhook and by a signal of its own, each over open connections. */
export async function nextStep(stack: Stack): Promise<readonly Finding[]> {
  const sender = createSender(stack.url);
  try {
    return await compare(stack, sender);
  } finally {
    sender.close();
  }
}

async function compare(stack: Stack, sender: Sender): Promise<readonly Finding[]> {
  const round = async (events: number, sendTo: (reference: string) => () => Promise<unknown>): Promise<Round> => {
    const references = await openTransfers(stack, events);
    await sleep(REST_MS);
    const cpu = stopwatch(processesOf(stack));
    const tookMs = await atPace(references, PER_SECOND, async (reference) => {
      const send = sendTo(reference);
      const ended = stack.client.workflow.getHandle(flowIdOfTransfer(reference)).result();
      const startedMs = performance.now();
      await send();
      await ended;
      return performance.now() - startedMs;
    });
    return { p50: percentile(tookMs, 0.5), p99: percentile(tookMs, 0.99), cpu: cpu() };
  };
  const byWebhook = (events: number) =>
    round(events, (reference) => {
      const request = webhook(stack, reference, LAST);
      return () => sender.send(request);
    });
  const bySignal = (events: number) =>
    round(events, (reference) => {
      const event = signalled(LAST);
      return () => signalFlow(stack.client, flowIdOfTransfer(reference), [event]);
    });

  // The first ones load code and make the JIT work.
  await byWebhook(EVENTS);
  await bySignal(EVENTS);
  const rounds = await sideBySide({ a: () => byWebhook(EVENTS), b: () => bySignal(EVENTS) }, ROUNDS);
  const shown = (of: readonly Round[]) =>
    `p50 ${medianOf(of, ({ p50 }) => p50).toFixed(1)} p99 ${medianOf(of, ({ p99 }) => p99).toFixed(1)} ms`;
  const [cpuA, cpuB] = [rounds.a[1]?.cpu ?? {}, rounds.b[1]?.cpu ?? {}];
  const figures = `webhook ${shown(rounds.a)}, CPU ms ${cpuPer(EVENTS, cpuA)}; signal ${shown(rounds.b)}, CPU ms ${cpuPer(EVENTS, cpuB)}`;
  return [
    {
      budget: 'P3',
      what: `webhook, over a connection that is open, to the transfer's end, ${PER_SECOND}/s: what it takes longer than a direct signal, p50`,
      limit: { bound: 'at most', value: 5 },
      unit: 'ms',
      measured: medianOf(rounds.a, ({ p50 }) => p50) - medianOf(rounds.b, ({ p50 }) => p50),
      figures,
    },
    {
      budget: 'P3',
      what: 'the same, p99 against that of a direct signal',
      limit: { bound: 'at most', value: 1.5 },
      unit: '×',
      measured: ratioOf(rounds, ({ p99 }) => p99),
      figures: `${EVENTS} a round, ${ROUNDS} rounds; of so few, the p99 is the slowest`,
    },
  ];
}

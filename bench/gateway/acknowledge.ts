import { cpuPer, stopwatch, sumOf, type CpuMs, type Processes } from '../measure/cpu.js';
import { percentile } from '../measure/statistics.js';
import type { Finding } from '../report/finding.js';
import { createSender } from '../setup/http-load.js';
import { atPace } from '../setup/at-pace.js';
import { signalFlow } from '../../src/temporal/start-flow.js';
import type { Stack } from '../setup/stack.js';
import { flowIdOfTransfer, signalled, webhook } from '../setup/transfers.js';
import { allDelivered, processesOf } from './inbox-state.js';
import { lagsOf } from './lags.js';

const PER_SECOND = 300;
const SECONDS = 60;
const WARM_UP_SECONDS = 5;
const STATUS = 'PAYMENT_SENT';

interface Load {
  readonly cpu: CpuMs;
  /** Each, from its send to its answer. */
  readonly tookMs: readonly number[];
  /** From when to when, ms since 1970. */
  readonly during: readonly [number, number];
}

const shownLags = (of: readonly number[]): string =>
  `p50 ${percentile(of, 0.5).toFixed(1)} p99 ${percentile(of, 0.99).toFixed(1)} ms (${of.length})`;

/** P2: what it costs the gateway to acknowledge a webhook, against a signal sent straight to the same flows at the same pace. */
export async function acknowledge(stack: Stack, references: readonly string[]): Promise<readonly Finding[]> {
  const { gateway, ...rest } = processesOf(stack) as { gateway: number } & Processes;
  const sender = createSender(stack.url);
  const load = async (
    seconds: number,
    processes: Processes,
    send: (reference: string) => Promise<unknown>,
  ): Promise<Load> => {
    const count = PER_SECOND * seconds;
    const inTurn = Array.from({ length: count }, (_, n) => references[n % references.length] as string);
    const [cpu, fromMs] = [stopwatch(processes), Date.now()];
    const tookMs = await atPace(inTurn, PER_SECOND, async (reference) => {
      const startedMs = performance.now();
      await send(reference);
      return performance.now() - startedMs;
    });
    return { cpu: cpu(), tookMs, during: [fromMs, Date.now()] };
  };
  const byWebhook = (seconds: number) =>
    load(seconds, { gateway }, (reference) => sender.send(webhook(stack, reference, STATUS)));
  const bySignal = (seconds: number) =>
    load(seconds, { caller: process.pid, ...rest }, (reference) =>
      signalFlow(stack.client, flowIdOfTransfer(reference), [signalled(STATUS)]),
    );

  try {
    // The first ones load code and make the JIT work.
    await byWebhook(WARM_UP_SECONDS);
    await bySignal(WARM_UP_SECONDS);
    await allDelivered(stack);
    const webhooks = await byWebhook(SECONDS);
    const { waiting } = (await stack.store.inbox.counts()).byState;
    await allDelivered(stack);
    const signals = await bySignal(SECONDS);
    const lags = {
      webhooks: await lagsOf(stack, references, webhooks.during),
      signals: await lagsOf(stack, references, signals.during),
    };
    const p99 = (of: readonly number[]) => percentile(of, 0.99);
    const pace = `${PER_SECOND}/s for ${SECONDS} s to ${references.length} flows`;
    const perWebhook = sumOf(webhooks.cpu) / webhooks.tookMs.length;
    return [
      {
        budget: 'P2',
        what: `CPU of the gateway for a webhook, its way to the flow included, against a direct client.signal (caller, server, worker), ${pace}`,
        limit: { bound: 'at most', value: 0.2 },
        unit: '×',
        measured: perWebhook / (sumOf(signals.cpu) / signals.tookMs.length),
        figures: `CPU ms: webhook ${cpuPer(webhooks.tookMs.length, webhooks.cpu)}; signal ${cpuPer(signals.tookMs.length, signals.cpu)}`,
      },
      {
        budget: 'P2',
        what: `webhooks, ${pace}: answered, p99`,
        limit: { bound: 'at most', value: 50 },
        unit: 'ms',
        measured: percentile(webhooks.tookMs, 0.99),
        figures: `p50 ${percentile(webhooks.tookMs, 0.5).toFixed(1)} ms`,
      },
      {
        budget: 'P2',
        what: `from a webhook's receipt to its flow's history, p99, against that of direct signals, ${pace}`,
        limit: { bound: 'at most', value: 2 },
        unit: '×',
        measured: p99(lags.webhooks) / p99(lags.signals),
        figures: `webhooks ${shownLags(lags.webhooks)}; signals ${shownLags(lags.signals)}`,
      },
      {
        budget: 'P2',
        what: 'webhooks that were not on their way to their flows when the last was answered: no more than a second of them',
        limit: { bound: 'at most', value: PER_SECOND },
        unit: 'events',
        measured: waiting,
        figures: `of ${webhooks.tookMs.length}`,
      },
    ];
  } finally {
    sender.close();
  }
}

import { cpuPer, stopwatch, type CpuMs } from '../measure/cpu.js';
import { medianOf, ratioOf, sideBySide } from '../measure/rounds.js';
import type { Finding } from '../report/finding.js';
import { sendAll } from '../setup/http-load.js';
import { inTurns } from '../setup/in-turns.js';
import { signalFlow } from '../../src/temporal/signal-flow.js';
import type { Stack } from '../setup/stack.js';
import { flowIdOfTransfer, signalled, webhook } from '../setup/transfers.js';
import { allSettled, processesOf } from './inbox-state.js';

const AT_ONCE = 32;
/** Of each for seconds: signals are quick for half a second and slow for the next. */
const WEBHOOKS = 12_000;
const SIGNALS = 2_400;
const STATUS = 'PAYMENT_SENT';

interface Round {
  readonly perSecond: number;
  readonly cpu: CpuMs;
  readonly operations: number;
}

/** P2: how fast webhooks are acknowledged, against signals sent straight to the same flows. */
export async function acknowledge(stack: Stack, references: readonly string[]): Promise<readonly Finding[]> {
  const inTurn = (count: number) =>
    Array.from({ length: count }, (_, n) => references[n % references.length] as string);
  const timed = async (
    operations: number,
    work: () => Promise<unknown>,
    drain: () => Promise<void>,
  ): Promise<Round> => {
    const cpu = stopwatch(processesOf(stack));
    const startedMs = performance.now();
    await work();
    const seconds = (performance.now() - startedMs) / 1_000;
    // What was acknowledged is delivered and settled: the CPU of that counts, too, and none of it slows the signals down.
    await drain();
    return { perSecond: operations / seconds, cpu: cpu(), operations };
  };
  const byWebhook = (count: number) => {
    const requests = inTurn(count).map((reference) => webhook(stack, reference, STATUS));
    return timed(
      count,
      () => sendAll(stack.url, requests, AT_ONCE),
      () => allSettled(stack),
    );
  };
  const bySignal = (count: number) =>
    timed(
      count,
      () =>
        inTurns(inTurn(count), AT_ONCE, (reference) =>
          signalFlow(stack.client, flowIdOfTransfer(reference), [signalled(STATUS)]),
        ),
      async () => undefined,
    );

  // The first ones load code and make the JIT work.
  await byWebhook(WEBHOOKS / 2);
  await bySignal(SIGNALS / 6);
  const rounds = await sideBySide({ a: () => byWebhook(WEBHOOKS), b: () => bySignal(SIGNALS) });
  const shown = (of: readonly Round[]) => {
    const typical = of.toSorted((a, b) => a.perSecond - b.perSecond)[of.length >> 1] as Round;
    return `${Math.round(medianOf(of, (round) => round.perSecond))}/s, CPU ms ${cpuPer(typical.operations, typical.cpu)}`;
  };
  return [
    {
      budget: 'P2',
      what: `webhooks acknowledged per second against client.signal, ${AT_ONCE} at a time`,
      limit: { bound: 'at least', value: 10 },
      unit: '×',
      measured: ratioOf(rounds, (round) => round.perSecond),
      figures: `webhooks ${shown(rounds.a)}; signals ${shown(rounds.b)}`,
    },
  ];
}

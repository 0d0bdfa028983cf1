import { setTimeout as sleep } from 'node:timers/promises';
import { compareLatency, p99Of, shownLatency, type Side } from '../measure/latency.js';
import { medianOf } from '../measure/rounds.js';
import type { Finding } from '../report/finding.js';
import { createSender, type Sender } from '../setup/http-load.js';
import { atPace } from '../setup/at-pace.js';
import { signalFlow } from '../../src/temporal/start-flow.js';
import type { Stack } from '../setup/stack.js';
import { flowIdOfTransfer, openTransfers, signalled, webhook } from '../setup/transfers.js';
import { processesOf } from './inbox-state.js';

const PER_SECOND = 25;
const LAST = 'COMPLETED';
/** A second of webhooks, a second of signals, and so on. A p99 of fewer than a thousand of each differs from run to run. */
const [EVENTS, STRETCHES, ROUNDS] = [25, 10, 5];
/**
 * What was done before is no part of an event's way: transfers opened, events marked as delivered. These are settled
 * seconds later, a few at a time, which falls into the seconds of both sides.
 */
const REST_MS = 400;

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
  let opened: readonly string[] = [];
  const side = (sendTo: (reference: string) => () => Promise<unknown>): Side => ({
    processes: processesOf(stack),
    async stretch() {
      const references = opened.slice(0, EVENTS);
      opened = opened.slice(EVENTS);
      const tookMs = await atPace(references, PER_SECOND, async (reference) => {
        const send = sendTo(reference);
        const ended = stack.client.workflow.getHandle(flowIdOfTransfer(reference)).result();
        const startedMs = performance.now();
        // Together: if one fails, the other's failure must not stay unhandled, which would end the process.
        await Promise.all([send(), ended]);
        return performance.now() - startedMs;
      });
      await sleep(REST_MS);
      return tookMs;
    },
  });
  const byWebhook = side((reference) => {
    const request = webhook(stack, reference, LAST);
    return () => sender.send(request);
  });
  const bySignal = side((reference) => {
    const event = signalled(LAST);
    return () => signalFlow(stack.client, flowIdOfTransfer(reference), [event]);
  });

  const rounds = await compareLatency(
    { a: byWebhook, b: bySignal },
    {
      stretches: STRETCHES,
      rounds: ROUNDS,
      async prepare(stretches) {
        opened = await openTransfers(stack, 2 * stretches * EVENTS);
        await sleep(REST_MS);
      },
    },
  );
  return [
    {
      budget: 'P3',
      what: `webhook, over a connection that is open, to the transfer's end, ${PER_SECOND}/s: what it takes longer than a direct signal, p50`,
      limit: { bound: 'at most', value: 5 },
      unit: 'ms',
      measured: medianOf(rounds.a, ({ p50 }) => p50) - medianOf(rounds.b, ({ p50 }) => p50),
      figures: `webhook ${shownLatency(rounds.a)}; signal ${shownLatency(rounds.b)}`,
    },
    {
      budget: 'P3',
      what: 'the same, p99 against that of a direct signal',
      limit: { bound: 'at most', value: 1.5 },
      unit: '×',
      measured: p99Of(rounds.a) / p99Of(rounds.b),
      figures: `of ${ROUNDS * STRETCHES * EVENTS} each, in turns of a second`,
    },
  ];
}

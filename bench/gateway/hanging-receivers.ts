import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Benchmark } from '../benchmark.js';
import { compareLatency, p99Of, shownLatency, type Side } from '../measure/latency.js';
import type { Finding } from '../report/finding.js';
import { createSender } from '../setup/http-load.js';
import { atPace } from '../setup/at-pace.js';
import { inTurns } from '../../src/in-turns.js';
import { openStack, type Stack } from '../setup/stack.js';
import { flowIdOfTransfer, openTransfers, transferInput, webhook } from '../setup/transfers.js';
import { until } from '../setup/until.js';
import { startFlow } from '../../src/temporal/start-flow.js';
import { processesOf } from './inbox-state.js';

const RECEIVERS = 500;
/** Half of a worker's slots for unknown receivers: more hang at once only if all flows start at once. */
const OPEN_AT_ONCE = 40;
const STARTED_AT_ONCE = 16;
const PER_SECOND = 10;
const [STRETCHES, ROUNDS] = [10, 5];
/** With this amount the sandbox sends no callback after the deposit. */
const SILENT_AMOUNT = '1000.18';

/** P14: receivers of callbacks that hang, each another one, beside transfers that have nothing to do with them. */
export const hangingReceivers: Benchmark = {
  name: 'hanging',
  about: `P14: a transfer beside ${RECEIVERS} receivers of callbacks that hang; part of gateway`,
  onlyNamed: true,
  async run(say) {
    const quiet = await openStack(say);
    const beset = await openStack(say).catch(async (error: unknown) => {
      await quiet.close();
      throw error;
    });
    const receivers = await openReceivers();
    try {
      say(`${RECEIVERS} flows whose receivers hang`);
      await inTurns(Array.from({ length: RECEIVERS }), STARTED_AT_ONCE, () => {
        const input = { ...transferInput(`hung-${randomUUID()}`, SILENT_AMOUNT), callbackUrl: receivers.another() };
        return startFlow(beset, 'bridge-transfer', input);
      });
      await until('the callbacks to hang', () => Promise.resolve(receivers.open() >= OPEN_AT_ONCE));
      return await compare({ quiet, beset }, receivers.open);
    } finally {
      receivers.close();
      await beset.close();
      await quiet.close();
    }
  },
};

async function compare(
  { quiet, beset }: { readonly quiet: Stack; readonly beset: Stack },
  open: () => number,
): Promise<readonly Finding[]> {
  const senders = new Map([quiet, beset].map((stack) => [stack, createSender(stack.url)]));
  const side = (stack: Stack): Side => ({
    processes: processesOf(stack),
    stretch: () =>
      atPace(Array.from({ length: PER_SECOND }), PER_SECOND, async () => {
        const startedMs = performance.now();
        const [reference = ''] = await openTransfers(stack, 1);
        await senders.get(stack)?.send(webhook(stack, reference, 'COMPLETED'));
        await stack.client.workflow.getHandle(flowIdOfTransfer(reference)).result();
        return performance.now() - startedMs;
      }),
  });
  try {
    const rounds = await compareLatency(
      { a: side(beset), b: side(quiet) },
      { stretches: STRETCHES, rounds: ROUNDS, prepare: () => Promise.resolve() },
    );
    return [
      {
        budget: 'P14',
        what: `a transfer, from its start to its end, p99, beside ${RECEIVERS} receivers that hang, against without`,
        limit: { bound: 'at most', value: 1.2 },
        unit: '×',
        measured: p99Of(rounds.a) / p99Of(rounds.b),
        figures: `beset ${shownLatency(rounds.a)}; quiet ${shownLatency(rounds.b)}; ${PER_SECOND * STRETCHES * ROUNDS} each, in turns of a second; ${open()} callbacks open in the end`,
      },
    ];
  } finally {
    for (const sender of senders.values()) sender.close();
  }
}

/** One server with many names: to callbacks, each is another receiver. */
async function openReceivers() {
  const server = createServer(() => undefined);
  const sockets = new Set<object>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    another: () => `http://r-${randomUUID()}.localhost:${port}/hook`,
    open: () => sockets.size,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

import { createServiceClient, type ServiceClient } from '../../src/service-client/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import { cuttingProxy } from './cutting-proxy.js';
import { inTurns } from '../../src/in-turns.js';
import { SERVICE_TOKEN } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';

const TIME_SCALE = 0.01;
/** Of the POST: its head and half of its body. */
const HALF = 700;
/** How often a deposit is not sent before the way is free. */
const REFUSALS = 2;

/** Ways in which a connection fails, so that nothing was sent. */
export const NOT_CONNECTED = ['refused', 'DNS', 'TLS'] as const;
type NotConnected = (typeof NOT_CONNECTED)[number];

export interface SentEnd {
  readonly state: string;
  readonly parked: string | null;
  /** Before and after a person ordered another send, if one did. */
  readonly executions: readonly number[];
}

export const SENT_ONCE: SentEnd = { state: 'completed', parked: null, executions: [1] };
export const SENT_BY_ORDER: SentEnd = { state: 'completed', parked: 'unknown_outcome', executions: [0, 1] };

/**
 * A bench in which the first attempts of each deposit go another way than everything else, by the word in the
 * reference.
 */
export interface BrokenWays {
  readonly bench: Stack;
  /** Connections that were cut. */
  readonly cuts: () => number;
  /** Deposits requested from the client, whichever way they went. */
  readonly posts: (reference: string) => number;
  notConnected(way: NotConnected, n: number): Promise<readonly SentEnd[]>;
  halfSent(n: number): Promise<readonly SentEnd[]>;
  close(): Promise<void>;
}

export async function openBrokenWays(): Promise<BrokenWays> {
  const behind = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
  const cutter = await cuttingProxy(behind.sandbox.port, HALF);
  const to = (baseUrl: string): ServiceClient =>
    createServiceClient({ baseUrl, token: () => Promise.resolve(SERVICE_TOKEN), timeoutMs: 8_000 });
  const ways: Readonly<Record<NotConnected | 'half', { readonly client: ServiceClient; readonly tries: number }>> = {
    refused: { client: to('http://127.0.0.1:9'), tries: REFUSALS },
    DNS: { client: to('https://no-such-host.invalid'), tries: REFUSALS },
    TLS: { client: to(behind.sandbox.url.replace('http:', 'https:')), tries: REFUSALS },
    half: { client: to(`http://127.0.0.1:${cutter.port}`), tries: 1 },
  };
  const tried = new Map<string, number>();
  const service: ServiceClient = {
    ...behind.deps.service,
    createBridgeDeposit(body) {
      const reference = body.provider_reference_id;
      const before = tried.get(reference) ?? 0;
      tried.set(reference, before + 1);
      const [, way] = Object.entries(ways).find(([word]) => reference.startsWith(`${word}-`)) ?? [];
      const client = way !== undefined && before < way.tries ? way.client : behind.deps.service;
      return client.createBridgeDeposit(body);
    },
  };
  const bench = await openStack({ time: 'skipping', deps: { ...behind.deps, service } });
  const executions = (reference: string) => behind.executions('createBridgeDeposit', reference);

  const each = (word: string, n: number, run: (reference: string) => Promise<SentEnd>) =>
    inTurns(
      Array.from({ length: n }, () => newReference(word)),
      10,
      run,
    );
  const start = (reference: string) => bench.start(transferInput(reference, { timeScale: TIME_SCALE }));

  return {
    bench,
    cuts: cutter.cuts,
    posts: (reference) => tried.get(reference) ?? 0,
    notConnected: (way, n) =>
      each(way, n, async (reference) => {
        const handle = await start(reference);
        await untilFlow(handle, ({ view }) => view.stage === 'tracking');
        await handle.signal('events', [trusted('COMPLETED')]);
        const { view } = (await handle.result()) as FlowReport;
        const parked = view.timeline.find(({ code }) => code === 'parked');
        return { state: view.state, parked: parked?.detail ?? null, executions: [await executions(reference)] };
      }),
    halfSent: (n) =>
      each('half', n, async (reference) => {
        const handle = await start(reference);
        const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
        const before = await executions(reference);
        await handle.executeUpdate('resolve', { args: [{ action: 'send-again', note: 'not there', actor: 'ada' }] });
        await untilFlow(handle, (report) => report.view.stage === 'tracking');
        await handle.signal('events', [trusted('COMPLETED')]);
        const end = (await handle.result()) as FlowReport;
        const parked = view.parked?.reason ?? null;
        return { state: end.view.state, parked, executions: [before, await executions(reference)] };
      }),
    async close() {
      for (const { client } of Object.values(ways)) client.close();
      await bench.close();
      await behind.close();
      await cutter.close();
    },
  };
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Payload } from '@temporalio/common';
import { decodeFromPayloadsAtIndex } from '@temporalio/common/lib/internal-non-workflow/index.js';
import type { FlowEvent } from '../../src/flows/messages.js';
import { startDevServer } from '../../src/temporal/dev-server.js';
import { nextFreePort } from '../../src/temporal/free-port.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { startProbeWorker } from './setup/probe-worker.js';
import { newReference, transferInput } from './setup/transfers.js';
import { until } from './setup/until.js';

/** `OUTAGE_SECONDS=120` is the whole of it; the default keeps a test run short. */
const OUTAGE_SECONDS = Number(process.env['OUTAGE_SECONDS'] ?? 10);
const EVENTS_PER_SECOND = 50;
const DRAINED_WITHIN_MS = 60_000;
/** Events that go as one signal. */
const PER_SIGNAL = 50;
const GROUPS = Math.ceil(OUTAGE_SECONDS / PER_SIGNAL);

describe('while Temporal is down', () => {
  it(
    `fault 36: for ${OUTAGE_SECONDS} s at ${EVENTS_PER_SECOND} webhooks a second, every one is taken, and delivered when it is back`,
    async () => {
      const home = await mkdtemp(join(tmpdir(), 'towline-down-'));
      // Nobody else may take it while the server is away: no port of those that the system gives out, and not always the same.
      const port = await nextFreePort(17_000 + Math.floor(Math.random() * 10_000), []);
      const serve = () =>
        startDevServer({
          executable: process.env['TEST_TEMPORAL_CLI'] ?? '',
          home,
          port,
          uiPort: false,
          dbFile: join(home, 'temporal.db'),
          searchAttributes: { TowlineState: 'Keyword' },
          log: () => {},
        });
      let server = await serve();
      const tested = await gatewayUnderTest({ temporalAddress: server.address });
      const groups = Array.from({ length: GROUPS }, () => Array.from({ length: EVENTS_PER_SECOND }, newReference));
      const references = groups.flat();
      for (const reference of references) {
        expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
      }
      await server.stop();

      const statuses: number[] = [];
      const delaysMs: number[] = [];
      const startedAtMs = performance.now();
      for (let second = 0; second < OUTAGE_SECONDS; second += 1) {
        const sent = (groups[second % GROUPS] ?? []).map(async (reference) => {
          const sentAtMs = performance.now();
          const answer = await tested.post(tested.callbackPath(reference), { status: 'PAYMENT_SENT', n: second });
          delaysMs.push(performance.now() - sentAtMs);
          statuses.push(answer.status);
        });
        await Promise.all(sent);
        await sleep(Math.max(0, startedAtMs + (second + 1) * 1_000 - performance.now()));
      }
      const total = OUTAGE_SECONDS * EVENTS_PER_SECOND;
      expect(statuses.filter((status) => status === 200)).toHaveLength(total);
      expect(tested.log.some(({ msg }) => msg === 'events cannot be delivered; trying again')).toBe(true);
      expect((await tested.store.inbox.counts()).byState).toMatchObject({ waiting: total, delivered: 0 });
      // No answer waits for Temporal, whose deadlines are seconds; the bound is wide for machines with other work.
      const ordered = delaysMs.toSorted((a, b) => a - b);
      expect(ordered[Math.floor(total / 2)]).toBeLessThan(1_000);

      server = await serve();
      const backAtMs = performance.now();
      // A flow that was signalled at the very end of the outage is signalled again only when that was seen.
      const worker = await startProbeWorker(tested.taskQueue, server.address);
      await until('delivery', async () => (await tested.store.inbox.counts()).byState.waiting === 0, DRAINED_WITHIN_MS);
      const drainedMs = performance.now() - backAtMs;
      // A signal that comes while the flow works stands in its history only when that work is done.
      let heard = { events: 0, signals: 0 };
      const allHeard = async () => (heard = await heardBy(tested, references)).events >= total;
      await until('the flows to have heard all', allHeard, DRAINED_WITHIN_MS).catch(() => undefined);
      const { events, signals } = heard;
      expect(events).toBe(total);
      // Those of one flow go as one signal, and as a second one where the outage ended while one was on its way.
      expect(signals).toBeLessThanOrEqual(2 * references.length);
      const p99Ms = ordered[Math.floor(total * 0.99)] ?? 0;
      console.info(
        `fault 36: ${total} of ${total} answered 200 (p99 ${Math.round(p99Ms)} ms), lost 0, drained in ${Math.round(drainedMs)} ms`,
      );
      await tested.close();
      await worker.stop();
      await server.stop();
      await rm(home, { recursive: true, force: true });
    },
    (OUTAGE_SECONDS + 180) * 1_000,
  );
});

/**
 * What the histories of these flows have: events by their ids, and the signals that brought some. One whose answer was lost
 * is sent again, and brings a flow nothing: it takes each id once.
 */
async function heardBy(tested: GatewayUnderTest, references: readonly string[]) {
  let events = 0;
  let signals = 0;
  for (const reference of references) {
    const history = await tested.client.workflow.getHandle(`bridge-transfer/${reference}`).fetchHistory();
    const ids = new Set<string>();
    for (const { workflowExecutionSignaledEventAttributes: signal } of history.events ?? []) {
      const [payload] = signal?.input?.payloads ?? [];
      const known = ids.size;
      for (const { id } of payload === undefined ? [] : await decoded(tested, payload)) ids.add(id);
      if (ids.size > known) signals += 1;
    }
    events += ids.size;
  }
  return { events, signals };
}

/** The events that a signal brings. */
async function decoded(tested: GatewayUnderTest, payload: Payload): Promise<readonly FlowEvent[]> {
  const converter = tested.client.options.loadedDataConverter;
  return decodeFromPayloadsAtIndex<readonly FlowEvent[]>(converter, 0, [payload]);
}

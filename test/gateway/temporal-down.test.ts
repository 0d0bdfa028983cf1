import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { startDevServer } from '../../src/temporal/dev-server.js';
import { nextFreePort } from '../../src/temporal/free-port.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference, transferInput } from './setup/transfers.js';
import { until } from './setup/until.js';

describe('while Temporal is down', () => {
  it('every event is taken, and delivered when it is back: 300 of 300', async () => {
    const home = await mkdtemp(join(tmpdir(), 'towline-down-'));
    const port = await nextFreePort(17_300, []);
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
    const references = Array.from({ length: 30 }, newReference);
    for (const reference of references) {
      expect((await tested.post('/flows/bridge-transfer', transferInput(reference))).status).toBe(201);
    }
    await server.stop();

    const delays: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      const answers = await Promise.all(
        references.map(async (reference) => {
          const startedAt = performance.now();
          const { status } = await tested.post(tested.callbackPath(reference), { status: 'PAYMENT_SENT', n });
          delays.push(performance.now() - startedAt);
          return status;
        }),
      );
      expect(answers.every((status) => status === 200)).toBe(true);
    }
    await until('a failed delivery', () =>
      tested.log.some(({ msg }) => msg === 'events cannot be delivered; trying again'),
    );
    expect((await tested.store.inbox.counts()).byState).toMatchObject({ waiting: 300, delivered: 0 });
    // No answer waits for Temporal, whose deadlines are seconds; the bound is wide for machines with other work.
    expect(delays.toSorted((a, b) => a - b)[Math.floor(delays.length / 2)]).toBeLessThan(1_000);

    server = await serve();
    // Delivered without any worker: the server holds the signals.
    await until('delivery', async () => (await tested.store.inbox.counts()).byState.delivered === 300, 40_000);
    let signals = 0;
    for (const reference of references) {
      const { events } = await tested.client.workflow.getHandle(`bridge-transfer/${reference}`).fetchHistory();
      signals += events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length ?? 0;
    }
    expect(signals).toBe(references.length);
    await tested.close();
    await server.stop();
    await rm(home, { recursive: true, force: true });
  }, 120_000);
});

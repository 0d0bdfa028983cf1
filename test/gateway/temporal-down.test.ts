import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { reportSettlement } from '../../src/contract/bridge.js';
import { answers } from '../../src/gateway/ops/health.js';
import { connectTemporal, GRPC } from '../../src/temporal/connection.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';
import { startFrontendAlone } from './setup/frontend-alone.js';
import { outage } from './setup/outage.js';

const [FLOWS, WAVES] = [5, 10];
const TOTAL = FLOWS * WAVES;

describe('while Temporal is frozen', () => {
  it('fault 58: a gateway is ready for events, whose answers do not wait for it, and not for orders', async () => {
    const sockets = new Set<Socket>();
    // It takes connections, and never answers.
    const frozen = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1');
    await once(frozen, 'listening');
    const { port } = frozen.address() as AddressInfo;
    const tested = await gatewayUnderTest({ temporalAddress: `127.0.0.1:${port}` });
    try {
      const orders = tested.get('/readyz/orders');
      expect((await tested.get('/readyz/intake')).status).toBe(200);
      const event = { provider_reference_id: 'order-1', status: 'COMPLETED' };
      expect((await tested.post(reportSettlement.path, event)).status).toBe(200);
      expect(await orders).toMatchObject({ status: 503, body: { store: 'ok', temporal: 'unavailable' } });
    } finally {
      await tested.close();
      for (const socket of sockets) socket.destroy();
      frozen.close();
    }
  });
});

describe('while Temporal answers and its database does not', () => {
  it('a gateway is ready for events and not for orders, as no flow can be started', async () => {
    const frontend = await startFrontendAlone();
    const tested = await gatewayUnderTest({ temporalAddress: frontend.address });
    try {
      expect((await tested.get('/readyz/intake')).status).toBe(200);
      for (const path of ['/readyz', '/readyz/orders']) {
        expect(await tested.get(path)).toMatchObject({ status: 503, body: { store: 'ok', temporal: 'unavailable' } });
      }
    } finally {
      await tested.close();
      frontend.close();
    }
  });
});

it('Temporal is not ready for orders if it has no namespace of that name', async () => {
  const variables = {
    TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    TEMPORAL_NAMESPACE: 'of-another-deployment',
  };
  const temporal = connectTemporal({ variables });
  try {
    await expect(answers(temporal.client)).rejects.toMatchObject({ code: GRPC.notFound });
  } finally {
    await temporal.close();
  }
});

describe('while Temporal is unavailable', () => {
  it(`fault 36: each of ${TOTAL} webhooks is taken, and delivered once when it is back`, async () => {
    const after = await outage({ flows: FLOWS, waves: WAVES, everyMs: 0 });
    // No answer waits for Temporal, which cannot be reached until all of them are there.
    expect(after.statuses).toEqual(Array.from({ length: TOTAL }, () => 200));
    expect(after.noticed).toBe(true);
    expect(after.meanwhile).toEqual({ waiting: TOTAL, delivered: 0 });
    expect(after.stored).toHaveLength(TOTAL);
    expect(after.delivered).toEqual(after.stored);
    // Those of one flow go as one signal, or two if the outage ended while one was being sent.
    expect(after.mostSignals).toBeLessThanOrEqual(2);
    // All have the same status for a flow.
    expect(after.states).toMatchObject({ applied: FLOWS, duplicate: TOTAL - FLOWS });
  });
});

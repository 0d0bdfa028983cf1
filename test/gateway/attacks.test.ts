import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFlowWorker, type FlowWorker } from './setup/flow-worker.js';
import { rawRequest } from './setup/raw-request.js';
import { signed } from './setup/sign.js';
import { until } from '../harness/until.js';
import { SETTLEMENT_SECRET } from '../harness/fixed.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { settlement, transferInput } from '../harness/inputs.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';

describe('an attacker', () => {
  let tested: GatewayUnderTest;
  let worker: FlowWorker;
  beforeAll(async () => {
    tested = await gatewayUnderTest({ env: { UNPROVEN_RATE_LIMIT: '0' } });
    worker = await startFlowWorker(tested);
  });
  afterAll(async () => {
    await tested.close();
    await worker.stop();
  });

  it('fault 39: who replays a genuine delivery changes nothing: to its flow it is a duplicate, to others it is nothing', async () => {
    const [mine, other] = [newReference(), newReference()];
    await Promise.all(
      [mine, other].map((reference) => tested.post('/flows/bridge-transfer', transferInput(reference))),
    );
    const body = JSON.stringify(settlement(mine, 'SETTLING'));
    const genuine = signed(SETTLEMENT_SECRET, body);
    expect((await tested.post(SETTLEMENT_PATH, body, genuine)).status).toBe(200);

    expect((await tested.post(SETTLEMENT_PATH, body, genuine)).status).toBe(200);
    for (const ageMs of [6 * 60_000, 6 * 86_400_000]) {
      const old = signed(SETTLEMENT_SECRET, body, { atMs: Date.now() - ageMs });
      expect((await tested.post(SETTLEMENT_PATH, body, old)).status).toBe(401);
    }
    const toOther = JSON.stringify(settlement(other, 'SETTLING'));
    expect((await tested.post(SETTLEMENT_PATH, toOther, genuine)).status).toBe(401);
    const otherPath = tested.callbackPath(mine).replace(`/${mine}/`, `/${other}/`);
    expect((await tested.post(otherPath, body)).status).toBe(404);
    await until('the genuine one', async () => {
      const [row] = await tested.store.inbox.list({ flowId: `bridge-transfer/${mine}`, trusted: true });
      return row?.state === 'applied' && row.repeats === 1;
    });
    // The old ones may hold something back, and prove nothing.
    const old = () => tested.store.inbox.list({ flowId: `bridge-transfer/${mine}`, trusted: false });
    await until('the old ones', async () =>
      (await old()).every(({ state }) => state !== 'waiting' && state !== 'delivered'),
    );
    expect(await old()).toEqual([expect.objectContaining({ proof: null, repeats: 1, state: 'duplicate' })]);
    expect(await tested.store.inbox.list({ flowId: `bridge-transfer/${other}` })).toEqual([]);
  });

  it('cannot guess a gateway token, nor use one beyond its role', async () => {
    const send = (authorization: string) =>
      rawRequest(tested.url, '/flows/bridge-transfer', '{}', { authorization }).then(({ status }) => status);
    for (const wrong of [
      '',
      'Bearer',
      'Bearer ',
      'Bearer dev-toke',
      'Bearer dev-tokenx',
      'Basic dev-token',
      'dev-token',
    ]) {
      expect(await send(wrong)).toBe(401);
    }
    expect(await send(`Bearer ${randomBytes(300).toString('hex')}`)).toBe(401);
    expect(await send('Bearer dev-token')).toBe(400);
  });
});

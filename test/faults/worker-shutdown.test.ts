import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../gateway/setup/until.js';
import { ACCOUNT } from './fixed.js';
import { endings, openRig, PATIENCE_MS, type Rig } from './rig.js';
import { newReference, transferInput } from './transfers.js';

const N = 20;
const SLOW_MS = 6_000;

describe('a worker that is shut down', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  it(`finishes ${N} POSTs that are under way: unknown outcomes 0, executions 1, and its successor goes on`, async () => {
    const worker = await rig.worker({ serviceTimeoutMs: 30_000 });
    await rig.control('POST', '/faults', { operation: 'createBridgeDeposit', kind: 'slow', delayMs: SLOW_MS });
    const references = Array.from({ length: N }, () => newReference('deployed'));
    const handles = await Promise.all(references.map((reference) => rig.start(transferInput(reference))));
    await until('the service to have executed all', async () => (await rig.executions()).size === N, PATIENCE_MS);
    expect(await phases(references)).toEqual(new Set(['sending']));

    worker.order('shutdown');
    await rig.worker();
    expect(await worker.ended).toBe(0);
    expect(await phases(references)).toEqual(new Set(['answered']));

    const reports = await endings(handles);
    expect(new Set(reports.map(({ view }) => view.state))).toEqual(new Set(['completed']));
    const unknown = reports.filter(({ view }) => view.timeline.some(({ stage }) => stage === 'outcome-unknown'));
    expect(unknown).toHaveLength(0);
    expect([...(await rig.executions()).values()]).toEqual(references.map(() => 1));
  }, 90_000);

  async function phases(references: readonly string[]): Promise<ReadonlySet<string | undefined>> {
    const keys = references.map((reference) => ({ account: ACCOUNT, operation: 'createBridgeDeposit', reference }));
    const claims = await Promise.all(keys.map((key) => rig.store.claims.get(key)));
    return new Set(claims.map((claim) => claim?.phase));
  }
});

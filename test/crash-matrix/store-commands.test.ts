import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { runProcess, scratchFolder } from '../cli/run.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';
import { openWorkerRig } from './worker-process.js';

/** A worker and six commands start, one after the other. */
jest.setTimeout(300_000);
const scratch = await scratchFolder();

let rig: Awaited<ReturnType<typeof openWorkerRig>>;
beforeAll(async () => {
  rig = await openWorkerRig(scratch, newReference('commands'), { stepMs: 20 });
});
afterAll(() => rig.close());

const NEW_KEY = `k2:${Buffer.alloc(32, 8).toString('base64')}`;

test('towline migrate makes the tables of a new store, and may be run again', async () => {
  const env = { ...rig.env, TOWLINE_HOME: join(scratch, 'another') };
  const migrated = await runProcess(['migrate'], env);
  expect(migrated).toMatchObject({ code: 0, out: expect.stringContaining(join(scratch, 'another', 'store.db')) });
  expect(await runProcess(['migrate'], env)).toEqual(migrated);
});

test('towline keys rotate seals what the store holds with the new key beside a running worker, and keys list shows which key is needed for what', async () => {
  // The new key is given to every process before one seals with it.
  await rig.startWorker(undefined, { PAYLOAD_KEYS: `${rig.env.PAYLOAD_KEYS},${NEW_KEY}` });
  const reference = newReference('sealed');
  const flow = await rig.client.workflow.start('cryptoSend', {
    taskQueue: 'towline',
    workflowId: `crypto-send/${reference}`,
    args: [{ ...cryptoSend.input(reference), timeScale: 0.02 }],
  });
  await until('its POST to be under way', () => rig.service.underWay() === 1);
  const env = { ...rig.env, PAYLOAD_KEYS: `${NEW_KEY},${rig.env.PAYLOAD_KEYS}` };
  const keys = async () => {
    const { code, out } = await runProcess(['keys', 'list', '--json'], env);
    expect(code).toBe(0);
    return (JSON.parse(out) as { keys: { keyId: string; storeValues: number; verdict: string }[] }).keys;
  };
  const before = await keys();
  expect(before).toMatchObject([
    { keyId: 'k2', given: 'seals', storeValues: 0, verdict: 'seals' },
    { keyId: 'k1', given: 'opens', verdict: 'store-needs-it' },
  ]);
  expect(before[1]?.storeValues).toBeGreaterThan(0);

  const dry = await runProcess(['keys', 'rotate', '--dry-run'], env);
  expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(new RegExp(`^${before[1]?.storeValues} .*\\bk1$`)) });
  const rotated = await runProcess(['keys', 'rotate'], env);
  expect(rotated).toMatchObject({ code: 0, err: '' });
  const after = await keys();
  expect(after[0]?.storeValues).toBeGreaterThan(0);
  expect(after[1]).toMatchObject({ keyId: 'k1', storeValues: 0, verdict: 'open-flows-need-it' });

  rig.service.letGo();
  expect(await flow.result()).toMatchObject({ view: { state: 'completed' } });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { callbackIdOf } from '../../src/protocol/vocabulary.js';
import { run } from '../cli/run.js';
import { openRig, type Json, type Rig } from './rig.js';
import { until } from '../harness/until.js';
import { startReceiver, type Received, type Receiver } from '../callbacks/receiver.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

/** Three days are 2.6 s, and a delivery without anything to do ends at once. */
const QUICK = { timeScale: 0.00001, deadlineSeconds: 2_592_000 };

let rig: Rig;
let caller: Receiver;
beforeAll(async () => {
  rig = await openRig();
  await rig.worker();
}, 120_000);
afterAll(() => rig.close());
beforeEach(async () => {
  caller = await startReceiver();
});
afterEach(() => caller.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const ask = async (method: string, path: string, body?: unknown): Promise<{ status: number; body: Json }> => {
  const answer = await fetch(rig.gatewayUrl + path, {
    method,
    headers: { authorization: 'Bearer dev-token', ...(body === undefined ? {} : JSON_TYPE) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Json };
};
const towline = (...args: string[]) => run(args, { GATEWAY_URL: rig.gatewayUrl, TOWLINE_TOKEN: 'dev-token' });
const start = (reference: string, more: Record<string, unknown> = {}) =>
  ask(
    'POST',
    '/flows/bridge-transfer',
    transferInput(reference, { callbackUrl: `${caller.url}/hook?key=canary-capability`, ...more }),
  );
const callbacksOf = async (reference: string): Promise<Json> =>
  (await ask('GET', `/flows/bridge-transfer/${reference}/callbacks`)).body;
const isOver = ({ body }: Received) => body.data.outcome !== null;
const idOf = ({ headers }: Received) => headers['webhook-id'];

describe('callbacks, by HTTP and by the command line', () => {
  it('are listed as undelivered after three days, shown with what went wrong, and sent again at an order', async () => {
    caller.answer = () => 503;
    const reference = newReference('listed');
    const flow = `bridge-transfer/${reference}`;
    expect((await start(reference, QUICK)).status).toBe(201);
    const shown = await until('it to be given up', async () => {
      const found = await callbacksOf(reference);
      return found.state === 'undelivered' && found.current?.flowState === 'completed' && found;
    });
    expect(shown).toMatchObject({
      to: caller.url,
      lastFailure: { httpStatus: 503 },
      nextAttemptAt: null,
      delivered: null,
    });
    expect(shown.attempts).toBeGreaterThan(1);
    const last = caller.received.at(-1) as Received;
    expect(shown.current.id).toBe(idOf(last));

    const listed = async () => (await ask('GET', '/callbacks?state=undelivered&limit=500')).body.callbacks as Json[];
    await until('it to be listed', async () => (await listed()).some(({ flowId }) => flowId === flow));
    expect((await towline('callbacks')).out).toContain(flow);
    const text = (await towline('callbacks', flow)).out;
    expect(text).toContain('503');
    expect(text).not.toContain('canary-capability');

    caller.answer = () => 204;
    const before = caller.received.length;
    expect((await towline('callbacks', 'resend', flow)).code).toBe(0);
    const again = (await caller.until((all) => all.length > before)).at(before) as Received;
    expect([idOf(again), again.text]).toEqual([idOf(last), last.text]);
    await until('it to be delivered', async () => (await callbacksOf(reference)).state === 'delivered');
    await until('it to be listed no more', async () => !(await listed()).some(({ flowId }) => flowId === flow));
  });

  it('show an attempt that failed and when the next one comes, without the path of the URL', async () => {
    caller.answer = () => ({ status: 500 });
    const reference = newReference('shown');
    await start(reference, { approval: 'required' });
    const shown = await until('an attempt', async () => {
      const found = await callbacksOf(reference);
      return found.lastFailure !== null && found;
    });
    expect(shown).toMatchObject({ state: 'sending', to: caller.url, lastFailure: { httpStatus: 500 } });
    expect(Date.parse(shown.nextAttemptAt)).toBeGreaterThan(Date.parse(shown.since));
    expect(JSON.stringify(shown)).not.toContain('canary-capability');
    await rig.client.workflow.getHandle(callbackIdOf(`bridge-transfer/${reference}`)).terminate();
  });

  it('are sent again even if everything was delivered long ago, under the same id', async () => {
    const reference = newReference('delivered');
    await start(reference, QUICK);
    const last = (await caller.until((all) => all.some(isOver))).at(-1) as Received;
    await until('the delivery to end', async () => {
      const { status } = await rig.client.workflow.getHandle(callbackIdOf(`bridge-transfer/${reference}`)).describe();
      return status.name === 'COMPLETED';
    });
    const before = caller.received.length;
    const { status } = await ask('POST', `/flows/bridge-transfer/${reference}/callbacks/resend`);
    expect(status).toBe(200);
    const again = (await caller.until((all) => all.length > before)).at(-1) as Received;
    expect([idOf(again), again.text]).toEqual([idOf(last), last.text]);
  });

  it('are no answer for flows that have none, or that are none', async () => {
    const reference = newReference('silent');
    await start(reference, { callbackUrl: undefined, approval: 'required' });
    expect((await callbacksOf(reference)).state).toBe('none');
    expect((await ask('POST', `/flows/bridge-transfer/${reference}/callbacks/resend`)).status).toBe(404);
    expect((await ask('GET', '/flows/bridge-transfer/no-such-flow/callbacks')).status).toBe(404);
  });

  it('are refused at the start if the URL itself shows it, in a sentence that does not repeat it', async () => {
    const hosts = ['10.0.0.1', '0xa9fea9fe', '[fd00::1]', 'u:p@caller.example', '[::ffff:169.254.169.254]'];
    for (const callbackUrl of [...hosts.map((host) => `https://${host}/canary`), 'http://caller.example/canary']) {
      const { status, body } = await start(newReference('refused'), { callbackUrl });
      expect([callbackUrl, status]).toEqual([callbackUrl, 400]);
      expect(body.data.errors[0].path).toBe('callbackUrl');
      expect(JSON.stringify(body)).not.toContain('canary');
    }
    for (const callbackUrl of ['ftp://caller.example/', 'caller', `https://caller.example/${'x'.repeat(2_048)}`])
      expect((await start(newReference('refused'), { callbackUrl })).body.data.errors[0].path).toBe('callbackUrl');
  });
});

describe('a worker that is killed between the POST and its record', () => {
  it('reports it again, as the same callback', async () => {
    const doomedRig = await openRig();
    try {
      const doomed = await doomedRig.worker();
      caller.answer = ({ body }) => {
        if (body.data.stage !== 'awaiting-approval' || caller.received.filter(atRest).length > 1) return 204;
        // It was received, and no process will report that.
        process.kill(doomed.pid, 'SIGKILL');
        return 'cut';
      };
      const atRest = ({ body }: Received) => body.data.stage === 'awaiting-approval';
      const input = { approval: 'required', callbackUrl: caller.url };
      await doomedRig.start(transferInput(newReference('killed'), input));
      await doomed.ended;
      await doomedRig.worker();
      const told = (await caller.until((all) => all.filter(atRest).length > 1, 90_000)).filter(atRest);
      expect(new Set(told.map(idOf)).size).toBe(1);
      expect(new Set(told.map(({ text }) => text)).size).toBe(1);
    } finally {
      await doomedRig.close();
    }
  }, 180_000);
});

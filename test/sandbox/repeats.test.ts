import { afterEach, describe, expect, it } from '@jest/globals';
import { type Rig, SEND, startRig, STEP_MS } from './start.js';

let rig: Rig;
afterEach(() => rig.close());

const SEND_BODY = { receiverAddress: '0x1', chain: 'CELO', token: 'CUSD', cryptoAmount: 5, referenceId: 's1' };

describe('a repeated reference at the sandbox', () => {
  it.each([
    ['same-result', 200, 1],
    ['conflict', 409, 1],
    ['rejected', 400, 1],
    ['execute-again', 200, 3],
  ] as const)('in mode %s is answered %i, and leaves %i executions', async (repeatMode, status, executions) => {
    rig = await startRig({ repeatMode });
    const rate_id = await rig.quote();
    const first = await rig.deposit('r1', { rate_id });
    const repeats = [await rig.deposit('r1', { rate_id }), await rig.deposit('r1', { rate_id })];
    expect(repeats.map((answer) => answer.status)).toEqual([status, status]);
    expect(await rig.executions('r1')).toBe(executions);
    if (repeatMode === 'same-result') expect(repeats[0]?.body).toEqual(first.body);
    else if (repeatMode === 'execute-again') expect(repeats[0]?.body.data).not.toEqual(first.body.data);
    else expect(repeats[0]?.body.error_code).toBe('DUPLICATE_REFERENCE');

    const sends = [];
    for (let n = 0; n < 3; n += 1) sends.push((await rig.call('POST', SEND, SEND_BODY)).status);
    expect(sends).toEqual([200, status, status]);
    expect(await rig.executions('s1', 'sendCrypto')).toBe(executions);

    await rig.advance(20 * STEP_MS);
    const { body } = await rig.control('GET', '/deposits/r1');
    expect(body.count).toBe(executions);
    expect(body.deposits.map((deposit: { status: string }) => deposit.status)).toEqual(
      Array.from({ length: executions }, () => 'COMPLETED'),
    );
  });

  it('executes once when a hundred requests come at the same time', async () => {
    rig = await startRig();
    const answers = await Promise.all(Array.from({ length: 100 }, () => rig.deposit('r1')));
    expect(new Set(answers.map(({ body }) => body.data.kotani_reference_id)).size).toBe(1);
    expect(await rig.executions('r1')).toBe(1);
  });

  it('is no repeat if the first one was of another operation', async () => {
    rig = await startRig({ repeatMode: 'conflict' });
    expect((await rig.deposit('s1')).status).toBe(200);
    expect((await rig.call('POST', SEND, SEND_BODY)).status).toBe(200);
  });

  it('is answered as control sets, and as the options say again after a reset', async () => {
    rig = await startRig({ repeatMode: 'conflict' });
    await rig.deposit('r1');
    await rig.control('POST', '/settings', { repeatMode: 'rejected' });
    expect((await rig.deposit('r1')).status).toBe(400);
    await rig.control('POST', '/reset');
    expect((await rig.deposit('r1')).status).toBe(200);
    expect((await rig.deposit('r1')).status).toBe(409);
  });
});

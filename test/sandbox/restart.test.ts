import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { type Rig, startRig, STEP_MS } from './start.js';

const rigs: Rig[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** The files as a killed process leaves them: commits in the log, nothing tidied up. */
async function crashImage(rig: Rig): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-crash-'));
  folders.push(folder);
  const dbPath = join(folder, 'sandbox.db');
  await copyFile(rig.dbPath, dbPath);
  await copyFile(`${rig.dbPath}-wal`, `${dbPath}-wal`);
  return dbPath;
}

const startFrom = async (dbPath: string) => {
  const rig = await startRig({ dbPath, frozen: false });
  rigs.push(rig);
  return rig;
};

describe('the sandbox, after a crash,', () => {
  it('has its accepted deposits, and carries them to their end, executed once', async () => {
    const before = await startRig({ durable: true });
    rigs.push(before);
    for (const reference of ['a', 'b', 'c']) await before.deposit(reference);
    await before.advance(2 * STEP_MS);
    const rig = await startFrom(await crashImage(before));
    expect(await rig.statuses('b')).toEqual(['DEPOSIT_INITIATED', 'DEPOSIT_CONFIRMED', 'PAYMENT_SENT']);
    expect((await rig.control('GET', '/clock')).body).toEqual((await before.control('GET', '/clock')).body);
    await rig.advance(20 * STEP_MS);
    for (const reference of ['a', 'b', 'c']) {
      expect((await rig.statuses(reference)).at(-1)).toBe('COMPLETED');
      expect(await rig.executions(reference)).toBe(1);
    }
  });

  it('delivers callbacks that were not delivered before', async () => {
    const before = await startRig();
    rigs.push(before);
    before.receiver.answer(503);
    await before.deposit('a', { amount: 10.15 });
    await before.advance(STEP_MS);
    const posted = before.receiver.received.length;
    expect(posted).toBeGreaterThan(0);
    const rig = await startFrom(await crashImage(before));
    before.receiver.answer(200);
    await rig.advance(60_000);
    expect(before.receiver.received).toHaveLength(posted + 1);
    const { deliveries } = (await rig.control('GET', '/deliveries?reference=a')).body;
    expect(deliveries).toMatchObject([{ state: 'delivered', tries: posted + 1 }]);
  });

  it('commits late, expires quotes, and answers repeats as before', async () => {
    const before = await startRig();
    rigs.push(before);
    const first = await before.deposit('a');
    const rate_id = await before.quote();
    await before.control('POST', '/faults', { operation: 'sendCrypto', kind: 'late-commit', delayMs: 5_000 });
    const body = { receiverAddress: '0x1', chain: 'CELO', token: 'CUSD', cryptoAmount: 5, referenceId: 's' };
    await expect(before.call('POST', '/api/v3/onramp/crypto', body)).rejects.toThrow();
    const rig = await startFrom(await crashImage(before));
    expect((await rig.deposit('a')).body).toEqual(first.body);
    await rig.advance(5_000);
    expect(await rig.executions('s', 'sendCrypto')).toBe(1);
    expect((await rig.control('GET', '/faults')).body.faults).toMatchObject([{ kind: 'late-commit', injected: 1 }]);
    await rig.advance(55_000);
    expect((await rig.deposit('b', { rate_id })).body.message).toBe('Rate Expired');
  });
});

describe('the sandbox', () => {
  it('has its executions from the same file after a close', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-sandbox-'));
    folders.push(folder);
    const dbPath = join(folder, 'sandbox.db');
    const one = await startRig({ dbPath });
    await one.deposit('a');
    await one.close();
    const two = await startFrom(dbPath);
    expect(await two.executions('a')).toBe(1);
  });

  it('does not start, as EADDRINUSE, on a port that is taken', async () => {
    const rig = await startRig();
    rigs.push(rig);
    await expect(startSandbox({ dbPath: ':memory:', port: rig.sandbox.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('logs a warning only if it listens beyond loopback', async () => {
    let warnings = 0;
    const warn = () => void (warnings += 1);
    const logger = { warn, info: () => undefined, error: () => undefined };
    for (const [host, expected] of [
      ['127.0.0.1', 0],
      ['0.0.0.0', 1],
    ] as const) {
      const sandbox = await startSandbox({ dbPath: ':memory:', host, logger });
      await sandbox.close();
      expect([host, warnings]).toEqual([host, expected]);
    }
  });

  it('has no executions, faults, adversary and frozen clock after a reset', async () => {
    const rig = await startRig();
    rigs.push(rig);
    await rig.deposit('a');
    await rig.control('POST', '/faults', { operation: '*', kind: 'error-before' });
    await rig.control('POST', '/adversary', { duplicate: 1 });
    await rig.control('POST', '/reset');
    expect(await rig.executions('a')).toBe(0);
    expect((await rig.deposit('a')).status).toBe(200);
    expect((await rig.control('GET', '/adversary')).body).toEqual({});
    expect((await rig.control('GET', '/clock')).body.frozen).toBe(false);
  });

  it('lists its control endpoints', async () => {
    const rig = await startRig();
    rigs.push(rig);
    const { endpoints } = (await rig.control('GET', '')).body;
    expect(endpoints).toContainEqual({ method: 'POST', path: '/_sandbox/forge', summary: expect.any(String) });
  });
});

import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { checkClock } from '../../src/cli/doctor/check-service.js';
import { startSandbox } from '../../src/sandbox/sandbox.js';
import { ensureSearchAttributes } from '../../src/dev-server/search-attributes.js';
import { clusterUrl, makeTemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { closedPort, run, scratchFolder } from '../cli/run.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';

const scratch = await scratchFolder();
const sandbox = await startSandbox({ dbPath: join(scratch, 'sandbox.db'), token: 'canary-service-token' });
afterAll(() => sandbox.close());

const address = process.env['TEST_TEMPORAL_ADDRESS'] as string;
const connection = await Connection.connect({ address });
await ensureSearchAttributes(connection, 'default', SEARCH_ATTRIBUTES);
await connection.close();

const env = {
  TOWLINE_HOME: join(scratch, 'home'),
  SERVICE_BASE_URL: sandbox.url,
  DEVELOPMENT: 'true',
  SERVICE_TOKEN: 'canary-service-token',
  TEMPORAL_ADDRESS: address,
  GATEWAY_PORT: String(await closedPort()),
};

interface Finding {
  readonly verdict: string;
  readonly about: string;
  readonly code: string;
  readonly sentence: string;
}

const diagnose = async (more: Record<string, string> = {}, ...args: string[]) => {
  const { code, out } = await run(['doctor', '--json', ...args], { ...env, ...more });
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  return { code, out, about: (what: string) => findings.filter((finding) => finding.about === what) };
};

describe('the doctor', () => {
  test('finds settings, keys, store, Temporal, service and clock good when they are', async () => {
    const { code, about } = await diagnose();
    for (const what of ['settings', 'payload keys', 'store', 'Temporal', 'search attributes', 'service', 'clock']) {
      expect(about(what)).toEqual([expect.objectContaining({ verdict: 'good' })]);
    }
    expect(code).toBe(0);
  });

  test('explains DUPLICATE_REFERENCE and SETTLEMENT_TRUST, which only the service and the provider can answer', async () => {
    const { about } = await diagnose();
    for (const what of ['DUPLICATE_REFERENCE', 'SETTLEMENT_TRUST']) expect(about(what)).not.toEqual([]);
    const known = await diagnose({ DUPLICATE_REFERENCE: 'sendCrypto=same-result' });
    expect(known.about('DUPLICATE_REFERENCE').map(({ verdict }) => verdict)).toEqual(['good', 'note']);
  });

  test('prints the settlement URL only if secrets were requested, and the token never', async () => {
    const quiet = await diagnose();
    const open = await diagnose({}, '--show-secrets');
    expect(quiet.out).not.toContain('/settlements/');
    expect(open.about('settlement URL')[0]?.sentence).toMatch(/\/settlements\/\w{43}\b/);
    expect(quiet.out + open.out).not.toContain('canary-service-token');
  });

  test('finds a token that the service refuses, and exits with 1', async () => {
    const { code, about } = await diagnose({ SERVICE_TOKEN: 'canary-wrong-token' });
    expect(about('service')[0]).toMatchObject({ verdict: 'bad', code: 'token-refused' });
    expect(code).toBe(1);
  });

  test('finds a service that cannot be reached, and exits with 4', async () => {
    const { code, about } = await diagnose({ SERVICE_BASE_URL: `http://127.0.0.1:${await closedPort()}` });
    expect(about('service')[0]).toMatchObject({ verdict: 'bad', code: 'unreachable' });
    expect(code).toBe(4);
  });

  test('finds that Temporal lacks the namespace, and exits with 1', async () => {
    const { code, about } = await diagnose({ TEMPORAL_NAMESPACE: 'nowhere' });
    expect(about('Temporal')[0]).toMatchObject({ verdict: 'bad', code: 'no-namespace' });
    expect(code).toBe(1);
  });

  (clusterUrl === undefined ? test.skip : test)('checks the database, and shows nothing of its URL', async () => {
    const database = await makeTemporaryDatabase();
    const good = await diagnose({ DATABASE_URL: database.url });
    expect(good.about('store')).toMatchObject([{ verdict: 'good' }]);
    const url = new URL(database.url);
    url.password = 'canary-password';
    const refused = await diagnose({ DATABASE_URL: url.href });
    expect(refused.about('store')[0]).toMatchObject({
      verdict: 'bad',
      code: 'unusable',
      sentence: expect.stringContaining('28P01'),
    });
    expect(refused.code).toBe(1);
    expect(good.out + refused.out).not.toMatch(/canary-password|test_[0-9a-f]{8}/);
    await database.drop();
  });

  test('names the setting and the error of a token file that cannot be read', async () => {
    const { code, err } = await run(['doctor'], { ...env, SERVICE_TOKEN: '', SERVICE_TOKEN_FILE: '/nowhere/token' });
    expect(code).toBe(1);
    expect(err).toMatch(/SERVICE_TOKEN_FILE.*ENOENT/);
  });

  test('executes nothing at the service', async () => {
    const answer = await fetch(`${sandbox.url}/_sandbox/executions`);
    expect(((await answer.json()) as { count: number }).count).toBe(0);
  });
});

describe('checkClock, which compares our clock with that of the service', () => {
  const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1_000).toUTCString();
  const verdicts = (date: string | null) =>
    checkClock(date, 1_800_000_000_000, 1_800_000_002_000).map(({ verdict, code }) => `${verdict} ${code}`);

  test('finds them equal within the second of the header and the time of the answer', () => {
    for (const seconds of [-1, 0, 1, 2]) expect(verdicts(at(seconds))).toEqual(['good ok']);
  });

  test('notes a difference above five seconds, in its direction', () => {
    expect(verdicts(at(32))).toEqual(['note behind']);
    expect(verdicts(at(-31))).toEqual(['note ahead']);
  });

  test('finds a difference bad at which signatures are refused', () => {
    expect(verdicts(at(400))).toEqual(['bad behind']);
  });

  test('notes that a service without a date cannot be compared', () => {
    expect(verdicts(null)).toEqual(['note no-date']);
  });
});

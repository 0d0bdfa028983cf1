import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ensureHome } from '../../src/cli/wiring/load-settings.js';
import { closedPort, run, runProcess, scratchFolder } from '../cli/run.js';
import { secretBytes } from '../harness/secrets.js';

const scratch = await scratchFolder();
const listener = createServer().listen(0, '127.0.0.1');
await once(listener, 'listening');
const taken = (listener.address() as AddressInfo).port;
afterAll(() => void listener.close());

const TEMPORAL = process.env['TEST_TEMPORAL_ADDRESS'] as string;
let homes = 0;
const newHome = () => join(scratch, `home-${(homes += 1)}`);

const FREE = { GATEWAY_PORT: String(await closedPort()), SANDBOX_PORT: String(await closedPort()) };

describe('what keeps towline up from starting is one sentence, and the exit code 1:', () => {
  const sentence = async (env: Record<string, string>) => {
    const ran = await run(['up', '--once'], { ...FREE, TOWLINE_HOME: newHome(), PATH: '', ...env });
    expect(ran.out).toBe('');
    expect(ran.code).toBe(1);
    return ran.err;
  };

  test('a taken gateway port', async () => {
    expect(await sentence({ GATEWAY_PORT: String(taken) })).toBe(
      `Port ${taken} on 127.0.0.1 is taken: stop what listens there, or set GATEWAY_PORT to another port.`,
    );
  });

  test('a taken sandbox port', async () => {
    expect(await sentence({ SANDBOX_PORT: String(taken) })).toBe(
      `Port ${taken} on 127.0.0.1 is taken: stop what listens there, or set SANDBOX_PORT to another port.`,
    );
  });

  test('no Temporal: nothing on the PATH, no network, no Go', async () => {
    const nothing = { TOWLINE_CACHE: join(scratch, 'cache'), HTTPS_PROXY: 'http://127.0.0.1:1' };
    const said = await sentence({ ...nothing, HTTP_PROXY: 'http://127.0.0.1:1' });
    expect(said.split('\n').at(-1)).toMatch(/^No Temporal server: set TEMPORAL_ADDRESS .*, or install Go\./);
  });

  test('a home that another one uses', async () => {
    const folder = newHome();
    const { lock } = await ensureHome(folder);
    await writeFile(lock, JSON.stringify({ pid: process.ppid, since: new Date().toISOString() }));
    expect(await sentence({ TOWLINE_HOME: folder })).toBe(
      `${folder} is in use by process ${process.ppid}: stop that one, or set TOWLINE_HOME, GATEWAY_PORT and ` +
        'SANDBOX_PORT to run another one beside it.',
    );
  });

  test('a home that cannot be made', async () => {
    expect(await sentence({ TOWLINE_HOME: '/dev/null/home' })).toBe(
      '/dev/null/home cannot be made (ENOTDIR): set TOWLINE_HOME to a folder that can be written.',
    );
  });

  test('settings that do not fit: one sentence for each', async () => {
    const said = await sentence({ GATEWAY_PORT: 'many', TIME_SCALE: '0' });
    expect(said.split('\n')).toEqual([
      'GATEWAY_PORT must be a port number.',
      'TIME_SCALE must be above 0 and at most 1.',
    ]);
  });
});

test.each(['gateway', 'sandbox'])('a %s by itself ends with that sentence about its port, too', async (name) => {
  const setting = `${name.toUpperCase()}_PORT`;
  // No Temporal: a server at its usual address may be bound to another store.
  const own = { TOWLINE_HOME: newHome(), TEMPORAL_ADDRESS: '127.0.0.1:1', LOG_LEVEL: 'silent' };
  const env = { ...FREE, ...own, [setting]: String(taken) };
  const { code, err } = await runProcess([name], env);
  expect(code).toBe(1);
  expect(err).toBe(`Port ${taken} on 127.0.0.1 is taken: stop what listens there, or set ${setting} to another port.`);
});

test('a gateway whose port for webhooks is taken ends with a sentence about it', async () => {
  const own = { TOWLINE_HOME: newHome(), TEMPORAL_ADDRESS: '127.0.0.1:1', LOG_LEVEL: 'silent' };
  const { code, err } = await runProcess(['gateway'], { ...FREE, ...own, INBOUND_PORT: String(taken) });
  expect(code).toBe(1);
  expect(err).toBe(
    `Port ${taken} on 127.0.0.1 is taken: stop what listens there, or set INBOUND_PORT to another port.`,
  );
});

test('towline store raise-epoch without Temporal is one sentence about it, and the exit code 4', async () => {
  const env = { TOWLINE_HOME: newHome(), TEMPORAL_ADDRESS: '127.0.0.1:1', LOG_LEVEL: 'silent' };
  const { code, err } = await run(['store', 'raise-epoch'], env);
  expect(err).toMatch(/^Temporal cannot be reached[^\n]*TEMPORAL_ADDRESS\.$/);
  expect(code).toBe(4);
});

test('towline migrate outside of development asks for DATABASE_URL, and makes no store of its own', async () => {
  const home = newHome();
  const production = {
    DEVELOPMENT: 'false',
    SERVICE_TOKEN: 'a-token',
    PAYLOAD_KEYS: `k1:${secretBytes(3).toString('base64')}`,
  };
  const { code, err } = await run(['migrate'], { TOWLINE_HOME: home, ...production });
  expect([code, err]).toEqual([1, expect.stringMatching(/^DATABASE_URL is missing[^\n]*$/)]);
  expect(existsSync(join(home, 'store.db'))).toBe(false);
});

test('the doctor names a store of other payload keys as such', async () => {
  const key = (byte: number) => `k${byte}:${secretBytes(byte).toString('base64')}`;
  const env = {
    TOWLINE_HOME: newHome(),
    TEMPORAL_ADDRESS: TEMPORAL,
    SERVICE_BASE_URL: `http://127.0.0.1:${await closedPort()}`,
    SERVICE_TOKEN: 'any-token',
    DEVELOPMENT: 'true',
  };
  await run(['doctor'], { ...env, PAYLOAD_KEYS: key(1) });
  const { out } = await run(['doctor'], { ...env, PAYLOAD_KEYS: key(2) });
  expect(out).toContain(
    'The store was made with other payload keys: set PAYLOAD_KEYS (or TOWLINE_HOME, or DATABASE_URL) as before.',
  );
});

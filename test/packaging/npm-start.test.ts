import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, jest, test } from '@jest/globals';
import { SCENES } from '../../src/cli/demo/scenes.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';
import { isAlive } from '../../src/dev-server/file-lock.js';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { packageRoot } from '../../src/package-root.js';
import cryptoSend from '../kinds/crypto-send.js';

jest.setTimeout(240_000);

/**
 * Kind, scene, ending, and the sandbox's executions for it: at least one of every kind; what plays alone comes last.
 */
const ROWS = [...SCENES.filter(({ alone }) => !alone), ...SCENES.filter(({ alone }) => alone)].map((scene) => [
  scene.kind,
  scene.name,
  scene.expected,
  Object.entries(scene.executes)
    .map(([operation]) => `${operation} once`)
    .join(', ') || '–',
]);
const PATIENCE_MS = 60_000;
const scratch = await mkdtemp(join(tmpdir(), 'towline-start-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** `npm start` in a home of its own. */
interface Start {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** Resolves when the output contains this. */
  until(text: string | RegExp): Promise<void>;
  readonly ended: Promise<number>;
}

const started: Start[] = [];
afterEach(() => {
  // A test that failed halfway must not keep its processes: they end when their parent does.
  for (const { process } of started.splice(0)) process.kill('SIGKILL');
});

async function newEnvironment(): Promise<Record<string, string>> {
  const [gatewayPort, sandboxPort] = await Promise.all([anyFreePort(), anyFreePort()]);
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    TOWLINE_HOME: await mkdtemp(join(scratch, 'home-')),
    TEMPORAL_CLI_PATH: process.env['TEST_TEMPORAL_CLI'] ?? '',
    GATEWAY_PORT: String(gatewayPort),
    SANDBOX_PORT: String(sandboxPort),
  };
}

function start(env: Record<string, string>, ...args: string[]): Start {
  const child = spawn(process.execPath, [join(packageRoot(), 'tools', 'start.mjs'), ...args], {
    cwd: scratch,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (output += text.toString()));
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  const run: Start = {
    process: child,
    output: () => output,
    ended,
    until: (text) =>
      eventually(
        () => `"${text}" in:\n${output}`,
        () => output.match(text) !== null,
      ),
  };
  started.push(run);
  return run;
}

async function eventually(what: () => string, holds: () => boolean): Promise<void> {
  const endsAtMs = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > endsAtMs) throw new Error(`not in time: ${what()}`);
    await sleep(25);
  }
}

/** Every process id that `npm start` printed, including those of restarted processes. */
function pidsIn(output: string): number[] {
  const listed = /processes +(.*)/.exec(output)?.[1] ?? '';
  const again = [...output.matchAll(/runs again, as process (\d+)/g)].map(([, pid]) => Number(pid));
  return [...[...listed.matchAll(/\w+ (\d+)/g)].map(([, pid]) => Number(pid)), ...again];
}

/** Processes of this home, as the system knows them, whoever started them and whatever they are. */
function processesOf(home: string): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readOr(`/proc/${pid}/environ`).split('\0').includes(`TOWLINE_HOME=${home}`))
    .map(Number);
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

async function nothingIsLeft(run: Start, home: string): Promise<void> {
  const pids = pidsIn(run.output());
  expect(pids.length).toBeGreaterThanOrEqual(4);
  await eventually(
    () => `the end of ${pids.filter(isAlive).join(', ')}`,
    () => !pids.some(isAlive) && processesOf(home).length === 0,
  );
}

/** The command line beside a running `npm start`. */
async function towline(env: Record<string, string>, ...args: string[]): Promise<{ code: number; out: string }> {
  const main = join(packageRoot(), 'dist', 'src', 'cli', 'main.js');
  const child = spawn(process.execPath, [main, ...args], { cwd: scratch, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  const code = await new Promise<number>((resolve) => child.once('close', (exit) => resolve(exit ?? -1)));
  return { code, out };
}

describe('npm start', () => {
  test('plays every kind to its expected end, executes each exactly once, and leaves nothing behind', async () => {
    const env = await newEnvironment();
    const run = start(env, '--once');
    const all = `${ROWS.length} of ${ROWS.length} ended as expected`;
    expect([await run.ended, run.output()]).toEqual([0, expect.stringContaining(all)]);
    const lines = run.output().split('\n');
    const rows = lines.flatMap((line) => {
      const row = /^(\S+) +demo-\w+-(\S+) +(\w+), as expected +(.+)$/.exec(line);
      return row === null ? [] : [row.slice(1)];
    });
    expect(rows).toEqual(ROWS);
    expect(new Set(rows.map(([kind]) => kind))).toEqual(new Set(FLOW_KINDS));
    for (const [kind, scene] of ROWS) {
      const link = `/namespaces/default/workflows/${kind}%2Fdemo-`;
      expect(lines.filter((line) => line.includes(link) && line.endsWith(`-${scene}`))).toHaveLength(1);
    }
    expect(run.output()).toMatch(/http:\/\/127\.0\.0\.1:\d+\/console\b/);
    // A newcomer takes a warning of Node for one about the demo.
    expect(run.output()).not.toMatch(/\(node:\d+\)|Warning: /);
    // What two of the scenes show: a forged event, and a worker that dies.
    for (const word of ['unverified', 'SIGKILL']) expect(run.output()).toMatch(new RegExp(`\\b${word}\\b`));
    await nothingIsLeft(run, env['TOWLINE_HOME'] ?? '');
  });

  test('continues where it stopped, restarts what dies, cuts no POST at SIGTERM (fault 59), and ends at Ctrl-C, also twice', async () => {
    const env = await newEnvironment();
    const home = env['TOWLINE_HOME'] ?? '';
    const first = start(env, '--no-demo');
    await first.until('Ctrl-C ends it');
    await sandboxControl(env, 'scenarios', { reference: 'kept', ending: 'silent' });
    expect((await startTransfer(env, { deadlineSeconds: 1 })).status).toBe(201);
    expect((await towline(env, 'wait', 'bridge-transfer/kept')).code).toBe(3);

    const other = start({ ...env, GATEWAY_PORT: '0', SANDBOX_PORT: '0' }, '--no-demo');
    expect(await other.ended).toBe(1);
    for (const word of [home, `process ${first.process.pid}`]) expect(other.output()).toContain(word);

    const [gateway] = /gateway (\d+)/.exec(first.output())?.slice(1).map(Number) ?? [];
    process.kill(gateway ?? 0, 'SIGKILL');
    await first.until(/the gateway runs again, as process \d+/);

    await sandboxControl(env, 'faults', { operation: 'sendCrypto', kind: 'slow', delayMs: 3_000 });
    const sent = ['under-way-1', 'under-way-2', 'under-way-3'];
    const answers = sent.map((reference) =>
      post(env, '/api/v3/onramp/crypto', { ...cryptoSend.input(reference), cryptoAmount: 12.5 }),
    );
    const executed = async () =>
      ((await sandboxControl(env, 'executions?operation=sendCrypto')) as { executions: unknown[] }).executions.length;
    while ((await executed()) < sent.length) await sleep(25);
    first.process.kill('SIGTERM');
    for (const answer of answers) expect([200, 202]).toContain((await answer).status);
    expect(await first.ended).toBe(0);
    await nothingIsLeft(first, home);

    const second = start(env, '--no-demo');
    await second.until('Ctrl-C ends it');
    expect(second.output()).toMatch(/\b1 parked/);
    const decided = await towline(env, 'resolve', 'bridge-transfer/kept', 'mark-failed', '--note', 'never settled');
    expect(decided.code).toBe(0);
    expect((await towline(env, 'wait', 'bridge-transfer/kept')).code).toBe(2);
    for (const reference of sent) {
      expect((await towline(env, 'wait', `crypto-send/${reference}`)).code).toBe(0);
      expect((await towline(env, 'show', `crypto-send/${reference}`, '--json')).out).not.toContain('outcome-unknown');
    }
    expect(await executed()).toBe(sent.length);

    second.process.kill('SIGINT');
    second.process.kill('SIGINT');
    await second.ended;
    await nothingIsLeft(second, home);
  });

  test('leaves nothing behind even if it is killed', async () => {
    const env = await newEnvironment();
    const run = start(env);
    await run.until('Playing');
    run.process.kill('SIGKILL');
    await run.ended;
    await nothingIsLeft(run, env['TOWLINE_HOME'] ?? '');
  });

  test('nor if it is killed while its processes are still loading', async () => {
    const env = await newEnvironment();
    const home = env['TOWLINE_HOME'] ?? '';
    const run = start(env);
    await eventually(
      () => run.output(),
      () => existsSync(join(home, 'logs', 'worker.log')),
    );
    run.process.kill('SIGKILL');
    await run.ended;
    await eventually(
      () => `the end of ${processesOf(home).join(', ')}`,
      () => processesOf(home).length === 0,
    );
  });
});

async function sandboxControl(env: Record<string, string>, path: string, body?: object): Promise<unknown> {
  const posted = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await fetch(
    `http://127.0.0.1:${env['SANDBOX_PORT']}/_sandbox/${path}`,
    body === undefined ? {} : posted,
  );
  return answer.json();
}

function post(env: Record<string, string>, path: string, body: object): Promise<Response> {
  return fetch(`http://127.0.0.1:${env['GATEWAY_PORT']}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer dev-token' },
    body: JSON.stringify(body),
  });
}

function startTransfer(env: Record<string, string>, more: object): Promise<Response> {
  return post(env, '/flows/bridge-transfer', {
    customer_key: 'customer-1',
    provider_reference_id: 'kept',
    amount: '1000',
    source_currency: 'KES',
    wallet_id: 'wallet-1',
    transaction_type: 'cross_border',
    chain: 'POLYGON',
    token: 'USDC',
    crypto_payment: { address: '0x52908400098527886E0F7030069857D2E4169EE7', crypto_amount: '7.5' },
    settlement: { amount: '100', currency: 'ZAR', country: 'ZA', recipient: { phone_number: '+27820000000' } },
    ...more,
  });
}

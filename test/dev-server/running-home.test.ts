import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { writeServerOfHome } from '../../src/dev-server/server-of-home.js';
import { writeScript } from '../tools/scratch.js';
import { Connection } from '@temporalio/client';
import { openNamespace } from '../harness/namespace.js';
import { openStore } from '../../src/store/libsql/open.js';
import { loadOrMakeKeyring } from '../../src/keys/index.js';
import { run, runProcess, scratchFolder } from '../cli/run.js';

const folder = await scratchFolder();
/** Stands where a Temporal server usually is, and is somebody else's. */
const stranger = createServer((socket) => {
  calls += 1;
  socket.destroy();
});
let calls = 0;

beforeAll(async () => {
  stranger.listen(7233, '127.0.0.1');
  // A server that a developer runs there is a stranger, too.
  await Promise.race([once(stranger, 'listening'), once(stranger, 'error')]).catch(() => undefined);
});
afterAll(() => void stranger.close());

const cli = () =>
  writeScript(
    join(folder, 'temporal'),
    'if [ "$1" = --version ]; then echo "temporal version 1.0.0 (Server 1.31.2, UI 2.0.0)"; else [ "$TEMPORAL_ADDRESS" = "$EXPECTED" ]; fi',
  );

const COMMANDS = [
  ['temporal', 'workflow', 'start', '--type', 'cryptoSend'],
  ['temporal', 'setup'],
  ['keys', 'list'],
  ['store', 'raise-epoch'],
  ['worker'],
  ['gateway'],
  ['doctor'],
];

describe('a command without TEMPORAL_ADDRESS', () => {
  it.each(COMMANDS.map((args) => [args.join(' '), args] as const))(
    'does not connect to the usual port if no server of its home runs: %s',
    async (_, args) => {
      const env = {
        TOWLINE_HOME: join(folder, 'idle'),
        TEMPORAL_CLI_PATH: await cli(),
        GATEWAY_PORT: '0',
        LOG_LEVEL: 'silent',
      };
      const runIt = args[0] === 'worker' || args[0] === 'gateway' ? runProcess : run;
      const { code } = await runIt(args, env);
      expect(code).not.toBe(0);
      expect(calls).toBe(0);
    },
  );

  it('takes the server of its home, at the port that it has', async () => {
    const home = join(folder, 'running');
    const address = process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
    const env = { TOWLINE_HOME: home, TEMPORAL_CLI_PATH: await cli(), EXPECTED: address };
    expect((await run(['temporal', 'workflow', 'list'], env)).code).toBe(1);
    await writeServerOfHome(join(home, 'temporal.db'), { pid: process.pid, port: Number(address.split(':')[1]) });
    expect((await run(['temporal', 'workflow', 'list'], env)).code).toBe(0);
    const doctor = await run(['doctor', '--json'], env);
    const { findings } = JSON.parse(doctor.out) as { findings: { about: string; verdict: string }[] };
    expect(findings.find(({ about }) => about === 'Temporal')).toMatchObject({ verdict: 'good' });
    expect(calls).toBe(0);
  });
});

describe('a command with the address of another Temporal', () => {
  it('refuses a namespace that is not bound to its store', async () => {
    const home = join(folder, 'bound');
    const namespace = 'not-ours';
    const connection = await Connection.connect({ address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '' });
    await openNamespace(connection, namespace);
    await connection.close();
    const env = {
      TOWLINE_HOME: home,
      TEMPORAL_ADDRESS: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
      TEMPORAL_NAMESPACE: namespace,
      TEMPORAL_CLI_PATH: await cli(),
      EXPECTED: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
    };
    expect((await run(['temporal', 'workflow', 'list'], env)).code).toBe(0);
    const store = await openStore({ path: join(home, 'store.db'), keyring: await loadOrMakeKeyring(home) });
    await store.deployment.bind({ namespace, account: 'default' });
    await store.close();
    for (const args of [
      ['temporal', 'workflow', 'start'],
      ['keys', 'list'],
      ['store', 'raise-epoch'],
    ]) {
      expect((await run(args, env)).code).toBe(1);
    }
  });
});

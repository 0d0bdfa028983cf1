import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { startTestCluster } from '../setup/postgres/test-cluster.js';
import { startMembers, type Members } from './members.js';
import { playFlows, type Played } from './play.js';
import { startTemporalCluster, type TemporalCluster } from './temporal-cluster.js';

const HELP = `npm run cluster [-- --flows N] [--once] [--gateway-port P]

Runs Towline as in production, on this machine and without containers: a real Temporal server with its UI and
Towline's store on Postgres, two gateways, two workers, and the sandbox as the service. Then it plays flows of all
kinds, each started at one gateway and waited for at the other one, and prints how they ended.

  --flows N         how many flows (20); 0 plays none
  --once            ends after the table. Without it, it stays up until Ctrl-C
  --gateway-port P  ports of the gateways: P and P + 1 (8400)

It needs Postgres, and Go for the first run, which builds the Temporal server in some minutes. Everything lies in a
temporary folder and goes with it. Exits with 0 if every flow completed and was executed once, else with 1.`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const note = (line: string): void => void process.stderr.write(`${line}\n`);
const DATABASE = 'towline';

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      flows: { type: 'string', default: '20' },
      once: { type: 'boolean', default: false },
      'gateway-port': { type: 'string', default: '8400' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    say(HELP);
    return 0;
  }
  const [flows, port] = [Number(values.flows), Number(values['gateway-port'])];
  if (!Number.isInteger(flows) || flows < 0 || !Number.isInteger(port) || port < 1 || port > 65_534) {
    say('--flows takes a whole number, and --gateway-port a port. `npm run cluster -- --help` says more.');
    return 2;
  }
  const interrupted = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const folder = await mkdtemp(join(tmpdir(), 'towline-cluster-'));
  const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const postgres = await startTestCluster({ ...process.env, TEST_POSTGRES: 'required' }, note);
    if (postgres === undefined) return 1;
    closing.push(() => postgres.stop());
    note('starting Temporal on Postgres');
    const temporal = await startTemporalCluster({
      databaseUrl: postgres.url,
      folder: join(folder, 'temporal'),
      codecEndpoint: `http://127.0.0.1:${port}/codec`,
      log: note,
    });
    closing.push(() => temporal.stop());
    note('starting two gateways, two workers and the sandbox');
    const members = await startMembers({
      temporalAddress: temporal.address,
      namespace: 'default',
      databaseUrl: await makeDatabase(postgres.url),
      folder,
      uiUrl: temporal.uiUrl,
      gatewayPorts: [port, port + 1],
    });
    closing.push(() => members.stop());
    printAddresses(members, temporal, folder);
    const isGood = flows === 0 || (await play(members, flows));
    if (values.once) return isGood ? 0 : 1;
    note('Ctrl-C ends it.');
    await interrupted;
    return isGood ? 0 : 1;
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

async function makeDatabase(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${DATABASE}`);
  await client.end();
  return Object.assign(new URL(url), { pathname: DATABASE }).href;
}

function printAddresses(members: Members, temporal: TemporalCluster, folder: string): void {
  say('The cluster is up');
  say(`  gateways     ${members.gatewayUrls.join('  ')}  (token ${members.token})`);
  say(`  sandbox      ${members.sandboxUrl}`);
  say(`  Temporal     ${temporal.address}`);
  say(`  Temporal UI  ${temporal.uiUrl}`);
  say(`  logs         ${folder}`);
}

async function play(members: Members, count: number): Promise<boolean> {
  note(`playing ${count} flows`);
  const startedAtMs = performance.now();
  const played = await playFlows(members, count, 'cluster');
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const kinds = [...new Set(played.map(({ kind }) => kind))];
  say('');
  for (const kind of kinds) say(`  ${kind.padEnd(20)} ${endingsOf(played.filter((one) => one.kind === kind))}`);
  const good = played.filter(isGood);
  say(`\n${good.length} of ${played.length} completed and were executed once (${seconds.toFixed(1)} s)`);
  return good.length === played.length;
}

function isGood({ state, executions }: Played): boolean {
  return state === 'completed' && Object.values(executions).every((count) => count === 1);
}

function endingsOf(played: readonly Played[]): string {
  const states = [...new Set(played.map(({ state }) => state))];
  return states.map((state) => `${played.filter((one) => one.state === state).length} ${state}`).join(', ');
}

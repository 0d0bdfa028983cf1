import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { Benchmark } from '../benchmark.js';
import { watchBackends } from '../measure/backends.js';
import { median } from '../measure/statistics.js';
import { notMeasured, type Finding } from '../report/finding.js';
import { inTurns } from '../../src/in-turns.js';
import { makeDatabase, startPostgres } from '../setup/postgres.js';
import { loadOrMakeKeyring, type Keyring } from '../../src/keys/index.js';
import { openStore } from '../../src/store/libsql/open.js';
import { openPostgresStore } from '../../src/store/postgres/open.js';
import type { Store } from '../../src/store/store.js';

/** Rows in each of the two tables. */
const SIZES = [300, 3_000, 30_000] as const;
const OPERATIONS = 50;
const ROUNDS = 31;
const AT_ONCE = 16;
const FILLED_AT_ONCE = 256;
const SETTLED_AT_ONCE = 500;
const LEASE_MS = 60_000;

/** P12: what is in the tables makes neither an event nor a claim dearer. */
export const rows: Benchmark = {
  name: 'rows',
  about:
    'P12: CPU of an event and of a claim in stores of 300, 3,000 and 30,000 rows, embedded and on Postgres; part of gateway',
  onlyNamed: true,
  async run(say) {
    const folder = await mkdtemp(join(tmpdir(), 'towline-bench-'));
    const postgres = await startPostgres(say);
    try {
      const keyring = await loadOrMakeKeyring(folder);
      say('embedded');
      const embedded = await measure('embedded', (size) => openEmbedded(join(folder, `${size}.db`), keyring));
      if (postgres === undefined) return [...embedded, notMeasured('P12', 'Postgres is not installed')];
      say('on Postgres');
      return [...embedded, ...(await measure('Postgres', () => openShared(postgres.url, keyring)))];
    } finally {
      await postgres?.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

interface Filled {
  readonly store: Store;
  /** Fills both tables with this many rows, a multiple of the smallest size. */
  fill(size: number): Promise<void>;
  /** Of this process and of those that serve it. */
  cpuMs(): Promise<number>;
  close(): Promise<void>;
}

/** The database works on a thread of this process. */
async function openEmbedded(path: string, keyring: Keyring): Promise<Filled> {
  const store = await openStore({ path, keyring });
  return {
    store,
    fill: (size) => fillByOperations(store, size),
    cpuMs: () => Promise.resolve(ownCpuMs()),
    close: () => store.close(),
  };
}

async function openShared(cluster: string, keyring: Keyring): Promise<Filled> {
  const url = await makeDatabase(cluster);
  const store = await openPostgresStore({ url, keyring });
  const backends = await watchBackends(url);
  return {
    store,
    async fill(size) {
      await fillByOperations(store, SIZES[0]);
      await multiply(url, size / SIZES[0]);
    },
    cpuMs: async () => ownCpuMs() + (await backends.cpuMs()),
    async close() {
      await backends.close();
      await store.close();
    },
  };
}

async function fillByOperations(store: Store, count: number): Promise<void> {
  await webhooks(store, count, FILLED_AT_ONCE);
  await claims(store, count, FILLED_AT_ONCE);
}

/** Copies under new names: a commit for each would take minutes. */
async function multiply(url: string, times: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const others = `generate_series(2, ${times}) AS n`;
    await client.query(`INSERT INTO inbox (id, source, flow_id, reference, status, proof, came_to, came_trusted, content_hash,
        body, state, detail, received_at, delivered_at, settled_at, repeats)
      SELECT id || n, source, flow_id || n, reference || n, status, proof, came_to || n, came_trusted, content_hash || n,
        body, state, detail, received_at, delivered_at, settled_at, repeats FROM inbox, ${others}`);
    await client.query(`INSERT INTO claims (account, operation, reference, phase, owner, flow_id, fingerprint, reserved_at,
        sending_at, ended_at, answer, rejection, kept, reason)
      SELECT account, operation, reference || n, phase, owner, flow_id || n, fingerprint, reserved_at,
        sending_at, ended_at, answer, rejection, kept, reason FROM claims, ${others}`);
    // As the database does by itself in the time that this many rows take.
    await client.query('VACUUM ANALYZE');
  } finally {
    await client.end();
  }
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function measure(where: string, open: (size: number) => Promise<Filled>): Promise<readonly Finding[]> {
  const stores: Filled[] = [];
  try {
    for (const size of SIZES) {
      const filled = await open(size);
      stores.push(filled);
      await filled.fill(size);
    }
    return [
      await compare(`CPU of an event, received, delivered and settled, ${where}`, stores, webhooks),
      await compare(`CPU of a claim, reserved, sent and answered, ${where}`, stores, claims),
    ];
  } finally {
    for (const filled of stores) await filled.close();
  }
}

async function compare(
  what: string,
  stores: readonly Filled[],
  operate: (store: Store, count: number, atOnce: number) => Promise<void>,
): Promise<Finding> {
  const taken: number[][] = stores.map(() => []);
  // The first round loads code.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [at, filled] of stores.entries()) {
      const before = await filled.cpuMs();
      await operate(filled.store, OPERATIONS, AT_ONCE);
      if (round > 0) taken[at]?.push(((await filled.cpuMs()) - before) / OPERATIONS);
    }
  }
  const [few = Number.NaN, ...more] = taken.map(median);
  const shown = [few, ...more].map((ms, at) => `${SIZES[at]} rows ${ms.toFixed(3)} ms`).join(', ');
  return {
    budget: 'P12',
    what,
    limit: { bound: 'at most', value: 1.1 },
    unit: '×',
    measured: Math.max(...more) / few,
    figures: `${shown}; medians of ${ROUNDS} rounds of ${OPERATIONS}, in turns`,
  };
}

/** Each of a flow of its own, as most are while they are under way. */
async function webhooks(store: Store, count: number, atOnce: number): Promise<void> {
  const { inbox } = store;
  const ids = await inTurns(Array.from({ length: count }), atOnce, async () => {
    const [id, reference] = [`evt_${randomUUID()}`, `bench-${randomUUID()}`];
    const flowId = `bridge-transfer/${reference}`;
    const body = { provider_reference_id: reference, status: 'PAYMENT_SENT', amount: 1000.5, currency: 'KES' };
    await inbox.receive(
      {
        id,
        source: 'callback',
        flowId,
        reference,
        status: 'PAYMENT_SENT',
        proof: 'signature',
        contentHash: store.mac('event', JSON.stringify(body)),
        body,
      },
      LEASE_MS,
    );
    await inbox.markDelivered(flowId, [id]);
    return id;
  });
  for (let at = 0; at < count; at += SETTLED_AT_ONCE) {
    await inbox.settle(ids.slice(at, at + SETTLED_AT_ONCE).map((id) => ({ id, state: 'applied' })));
  }
}

async function claims({ claims: store }: Store, count: number, atOnce: number): Promise<void> {
  await inTurns(Array.from({ length: count }), atOnce, async () => {
    const reference = `bench-${randomUUID()}`;
    const key = { account: 'default', operation: 'createBridgeDeposit', reference };
    const owner = randomUUID();
    await store.reserve(key, { owner, flowId: `bridge-transfer/${reference}`, fingerprint: randomUUID() });
    await store.markSending(key, owner);
    await store.recordAnswer(key, { provider_reference_id: reference, status: 'PENDING' });
  });
}

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { openPostgresStore } from '../../src/store/postgres/open.js';
import type { QuoteTerms } from '../../src/store/quote.js';
import type { Store } from '../../src/store/store.js';
import { clusterUrl, makeTemporaryDatabase, type TemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { until } from '../harness/until.js';
import { startCuttingProxy, type CuttingProxy } from './cutting-proxy.js';
import { statesOf } from './states-of.js';
import { anEvent, keyring } from './temporary-store.js';

const COMMIT = 'COMMIT\0';
const flow = (name: string) => `bridge-transfer/${name}`;
const leaseAll = { proven: 50, unproven: 50, perFlow: 50, leaseMs: 30_000 };

(clusterUrl === undefined ? describe.skip : describe)('two gateways on one Postgres', () => {
  let database: TemporaryDatabase;
  let proxy: CuttingProxy;
  let hanging: Store;
  let other: Store;
  /** A third session that holds locks. */
  let beside: Client;
  beforeEach(async () => {
    database = await makeTemporaryDatabase();
    const { hostname, port } = new URL(database.url);
    proxy = await startCuttingProxy({ host: hostname, port: Number(port) });
    hanging = await openPostgresStore({ url: proxy.through(database.url), keyring });
    other = await openPostgresStore({ url: database.url, keyring });
    beside = new Client({ connectionString: database.url });
    await beside.connect();
  });
  afterEach(async () => {
    proxy.down(true);
    await Promise.all([beside.end(), hanging.close(), other.close()]);
    await proxy.close();
    await database.drop();
  });

  const idsOf = async (store: Store) =>
    (await store.inbox.lease(leaseAll)).flatMap(({ rows }) => rows.map(({ id }) => id));
  /** Sessions that wait for any lock of another one. */
  const waiting = async () => {
    // Not by `beside`: within a transaction the activity view does not change.
    const [row] = await database.query(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0 AND datname = current_database()`,
    );
    return Number(row?.['n']);
  };

  it('get sending from reserve, and not contradicted, if the claim was moved to sending while they asked', async () => {
    const key = { account: 'default', operation: 'createOfframp', reference: 'r1' };
    const attempt = (owner: string) => ({ owner, flowId: 'offramp/r1', fingerprint: 'f' });
    await other.claims.reserve(key, attempt('a'));
    // As raising the epoch does: it takes no turn.
    await beside.query('BEGIN');
    await beside.query(`UPDATE claims SET phase = 'sending', sending_at = 1`);
    const asked = other.claims.reserve(key, attempt('b'), { flowId: 'offramp/r1', statuses: [] });
    await until('it to wait for the lock', async () => (await waiting()) === 1);
    await beside.query('COMMIT');
    expect(await asked).toMatchObject({ kind: 'sending' });
  });

  it.each(['receive', 'mark', 'settle'] as const)(
    'do not wait for one another if one hangs in a transaction of another flow: %s',
    async (what) => {
      const stuck = anEvent({ flowId: flow('stuck') });
      await hanging.inbox.receive(anEvent({ flowId: flow('stuck') }));
      await hanging.inbox.receive(stuck);
      const isHung = proxy.cutAt(COMMIT, 'never');
      const doings = {
        receive: () => hanging.inbox.receive(anEvent({ flowId: flow('stuck') })),
        mark: () => hanging.inbox.markDelivered(flow('stuck'), [stuck.id]),
        settle: () => hanging.inbox.settle([{ id: stuck.id, state: 'late' }]),
      };
      const held = doings[what]().then(
        () => undefined,
        () => undefined,
      );
      await isHung;

      const free = Array.from({ length: 20 }, (_, n) => anEvent({ flowId: flow(`free-${n}`) }));
      await Promise.all(free.map((event) => other.inbox.receive(event)));
      expect(await idsOf(other)).toEqual(expect.arrayContaining(free.map(({ id }) => id)));
      for (const { id, flowId } of free) await other.inbox.markDelivered(flowId ?? '', [id]);
      await Promise.all(free.map(({ id }) => other.inbox.settle([{ id, state: 'applied' }])));
      expect((await statesOf(other.inbox)).applied).toBe(free.length);
      expect(await waiting()).toBe(0);

      // Its own flow is kept in order: events through another gateway wait for the hanging one.
      const next = other.inbox.receive(anEvent({ flowId: flow('stuck') }));
      if (what !== 'settle') await until('it to wait for the lock', async () => (await waiting()) === 1);
      proxy.down(true);
      await Promise.all([next, held]);
    },
  );

  it('store an event at once while another gateway hangs that leases its flow', async () => {
    await hanging.inbox.receive(anEvent({ flowId: flow('leased') }));
    const isHung = proxy.cutAt(COMMIT, 'never');
    const held = hanging.inbox.lease(leaseAll).catch(() => undefined);
    await isHung;

    const its = { done: false, waits: false };
    const next = anEvent({ flowId: flow('leased') });
    const stored = other.inbox.receive(next).finally(() => (its.done = true));
    while (!its.done && !its.waits) its.waits = (await waiting()) > 0;
    expect(its.waits).toBe(false);
    expect(await stored).toEqual({ kind: 'stored', id: next.id });
    proxy.down(true);
    await held;
    // Its lease is undone with its session.
    const due = async () => (await idsOf(other)).includes(next.id);
    while (!(await due())) await waiting();
  });

  it.each(['check', 'quote'] as const)('do not wait while another process hangs in a %s', async (what) => {
    const quote = (rateId: string): QuoteTerms => ({
      rateId,
      lifeMs: 60_000,
      cryptoAmount: null,
      cryptoUnit: null,
      sourceAmount: '1',
      sourceCurrency: 'KES',
      chain: 'CELO',
      token: 'USDC',
    });
    const doings = {
      check: (store: Store) => store.check(),
      quote: (store: Store, rateId: string) => store.quotes.remember('a', quote(rateId), 0),
    };
    // Both come to delete it.
    await beside.query(`INSERT INTO quotes (account, rate_id, quoted_at, terms) VALUES ('a', 'old', 0, 'x')`);
    const isHung = proxy.cutAt(COMMIT, 'never');
    const held = doings[what](hanging, 'held').then(
      () => undefined,
      () => undefined,
    );
    await isHung;

    const its = { done: false, waits: false };
    const done = doings[what](other, 'free').finally(() => (its.done = true));
    while (!its.done && !its.waits) its.waits = (await waiting()) > 0;
    expect(its.waits).toBe(false);
    await done;
    if (what === 'quote') expect(await other.quotes.recall('a', 'free')).toMatchObject(quote('free'));
    else expect((await beside.query(`SELECT 1 FROM meta WHERE name LIKE 'check%'`)).rows).toEqual([]);
    proxy.down(true);
    await held;
  });

  it('move claims to sending while all statements about events hang', async () => {
    await beside.query('BEGIN; LOCK TABLE inbox IN ACCESS EXCLUSIVE MODE');
    const events = Array.from({ length: 40 }, (_, n) => other.inbox.receive(anEvent({ flowId: flow(`f${n}`) })));
    const reads = Array.from({ length: 40 }, () => other.inbox.get('event'));
    await until('eight to wait for a lock', async () => (await waiting()) >= 8);
    const key = { account: 'a', operation: 'o', reference: 'r' };
    await other.claims.reserve(key, { owner: 'x', flowId: 'f', fingerprint: 'f' });
    expect(await other.claims.markSending(key, 'x')).toBe('sending');
    await other.claims.recordAnswer(key, {});
    expect((await other.claims.get(key))?.phase).toBe('answered');
    await beside.query('ROLLBACK');
    await Promise.all([...events, ...reads]);
  });
});

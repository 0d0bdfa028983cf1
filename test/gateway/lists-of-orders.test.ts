import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { inTurns } from '../../src/in-turns.js';
import type { Answer } from '../harness/service.js';
import { until } from '../harness/until.js';
import { describeStores } from '../store/store-kinds.js';
import { anEvent, makeTemporaryStore, type TemporaryStore } from '../store/temporary-store.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const ROLES = { shop: 'flows', rival: 'flows', vic: 'viewer', ann: 'viewer', ben: 'viewer', cyn: 'viewer' } as const;
type Name = keyof typeof ROLES;
const secretOf = (name: string) => `secret-of-${name}-0123456789`;
/** Of the rival: more than a page has, before those of the shop in each list. */
const RIVALS = 260;
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describeStores('a list of the store', (kind) => {
  let temporary: TemporaryStore;
  let tested: GatewayUnderTest;
  let monotonicMs = 0;
  const reads = { ofOneEvent: 0, ofLists: 0 };
  /** While it is set, the store reads no list. */
  let held: Promise<void> | undefined;
  /** In the order of each list. */
  const flowsOf = {
    rival: numbers(RIVALS).map((n) => `onramp/rival-${String(n).padStart(3, '0')}`),
    shop: numbers(5).map((n) => `onramp/shop-${n}`),
  };
  const all = [...flowsOf.rival, ...flowsOf.shop];

  beforeAll(async () => {
    temporary = await makeTemporaryStore(kind);
    tested = await gatewayUnderTest({
      storePath: temporary.runRoleUrl,
      temporalAddress: '127.0.0.1:1',
      env: {
        GATEWAY_TOKENS: Object.entries(ROLES)
          .map(([name, role]) => `${name}:${role}:${secretOf(name)}`)
          .join(','),
      },
      gateway: { monotonicMs: () => monotonicMs },
      wrapStore: (store) => {
        const { inbox, matters, proposals } = store;
        const wait = async () => ((reads.ofLists += 1), held);
        const get: typeof inbox.get = (id) => ((reads.ofOneEvent += 1), inbox.get(id));
        const open: typeof proposals.open = async (of) => (await wait(), proposals.open(of));
        const contradictedFlows: typeof matters.contradictedFlows = async (...asked) => (
          await wait(),
          matters.contradictedFlows(...asked)
        );
        const list: typeof inbox.list = async (query) => (await wait(), inbox.list(query));
        return {
          ...store,
          inbox: { ...inbox, get, list },
          matters: { ...matters, contradictedFlows },
          proposals: { ...proposals, open },
        };
      },
    });
    const { audit, inbox, matters, proposals } = tested.store;
    const started = Object.entries(flowsOf).flatMap(([actor, flows]) => flows.map((flowId) => ({ actor, flowId })));
    await Promise.all(
      started.map(({ actor, flowId }) =>
        audit.append({ actor, role: 'flows', means: 'token', kind: 'start', flowId, subject: `start of ${flowId}` }),
      ),
    );
    const order = { topic: 'decision', subject: 'now', action: 'mark-failed', choice: {}, by: 'op', note: 'seen' };
    for (const [n, flowId] of all.entries()) {
      await proposals.propose({ ...order, flowId, id: `ord_${String(n).padStart(4, '0')}` }, 1_000_000);
    }
    // The latest contradiction, and event, is the first one of the list.
    for (const flowId of all.toReversed()) {
      const { id } = await inbox.receive(anEvent({ flowId, status: 'REFUNDED', proof: 'signature' }));
      const content = {
        kind: 'late_event_contradicts',
        flowId,
        eventId: id,
        since: 'then',
        ended: 'completed',
      } as const;
      await matters.open(`late_event_contradicts/${id}`, content);
    }
  });
  afterAll(async () => {
    await tested.close();
    await temporary.remove();
  });

  const ask = async (name: Name, path: string) => {
    const answer = await fetch(tested.url + path, { headers: { authorization: `Bearer ${secretOf(name)}` } });
    return { status: answer.status, body: (await answer.json()) as Answer };
  };
  const LISTS = [
    ['proposals', 'proposals'],
    ['contradictions', 'flows'],
    ['events', 'events'],
  ] as const;

  /** Every page of it. */
  const pagesOf = async (name: Name, list: string, member: string, limit: number) => {
    const pages: string[][] = [];
    let after = '';
    for (;;) {
      monotonicMs += 10_000;
      const { status, body } = await ask(name, `/${list}?limit=${limit}${after}`);
      expect(status).toBe(200);
      pages.push((body[member] as { flowId: string }[]).map(({ flowId }) => flowId));
      if ((body['next'] ?? null) === null) return pages;
      after = `&after=${encodeURIComponent(body['next'])}`;
    }
  };

  it.each(LISTS)("has a name's own, though another name has more than a page before them: %s", async (list, member) => {
    expect(await pagesOf('shop', list, member, 100)).toEqual([flowsOf.shop]);
  });

  it.each(LISTS)('has each once, page by page, for a name and for a role that sees all: %s', async (list, member) => {
    expect(await pagesOf('shop', list, member, 2)).toEqual([
      flowsOf.shop.slice(0, 2),
      flowsOf.shop.slice(2, 4),
      flowsOf.shop.slice(4),
    ]);
    const pages = await pagesOf('vic', list, member, 100);
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 65]);
    expect(pages.flat()).toEqual(all);
  });

  it.each(LISTS)('has no flow that was given to another name since: %s', async (list, member) => {
    const given = `onramp/given-of-${list}`;
    const { audit, inbox, matters, proposals } = tested.store;
    const start = {
      actor: 'shop',
      role: 'flows',
      means: 'token',
      kind: 'start',
      flowId: given,
      subject: 'its start',
    } as const;
    await audit.append(start);
    const order = { topic: 'decision', subject: 'now', action: 'mark-failed', choice: {}, by: 'op', note: 'seen' };
    const id = `ord_9-${list}`;
    if (list === 'proposals') await proposals.propose({ ...order, flowId: given, id }, 1_000_000);
    const content = { kind: 'late_event_contradicts', flowId: given, since: 'then' } as const;
    if (list === 'contradictions') await matters.open(`late_event_contradicts/${id}`, content);
    if (list === 'events') await inbox.receive(anEvent({ flowId: given }));
    const has = async (name: Name) => (await pagesOf(name, list, member, 500)).flat().includes(given);
    expect([await has('shop'), await has('rival')]).toEqual([true, false]);
    await audit.append({ actor: 'root', means: 'token', kind: 'give', flowId: given, subject: 'rival' });
    expect([await has('shop'), await has('rival')]).toEqual([false, true]);
  });

  it('shows what each event says, and reads all events of a page at once', async () => {
    reads.ofOneEvent = 0;
    const { body } = await ask('shop', '/contradictions');
    expect(body['flows']).toHaveLength(flowsOf.shop.length);
    for (const { contradicted } of body['flows'] as Answer[]) {
      expect(contradicted.evidence).toMatchObject([{ status: 'REFUNDED', proof: 'signature', ended: 'completed' }]);
    }
    expect(reads.ofOneEvent).toBe(0);
  });

  it.each([
    ['proposals', 'ann'],
    ['contradictions', 'ben'],
    ['events', 'cyn'],
  ] as const)('is charged as other lists are, by its full pages: %s', async (list, name) => {
    monotonicMs += 100_000;
    // Five full pages of 50 each, of 50 that a name may read at once.
    const statuses = await inTurns(numbers(11), 1, async () => (await ask(name, `/${list}?limit=500`)).status);
    expect(statuses).toEqual([...numbers(10).map(() => 200), 429]);
    expect((await ask('vic', '/flows/onramp/none/events')).status).toBe(200);
  });

  it.each([
    ['proposals', 'ann'],
    ['contradictions', 'ben'],
    ['events', 'cyn'],
  ] as const)('counts as a list among the open requests of a name: %s', async (list, name) => {
    monotonicMs += 100_000;
    let go = () => {};
    held = new Promise((resolve) => (go = resolve));
    reads.ofLists = 0;
    const open = numbers(16).map(() => ask(name, `/${list}?limit=1`));
    await until('all of them to be read', () => reads.ofLists === 16);
    expect((await ask(name, `/${list}?limit=1`)).status).toBe(429);
    go();
    held = undefined;
    expect(new Set((await Promise.all(open)).map(({ status }) => status))).toEqual(new Set([200]));
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { operations } from '../../src/contract/index.js';
import { KINDS } from '../../src/sandbox/kinds.js';
import { create, historyOf, isCalledBack, SAMPLES, sampled, type Sampled } from './samples.js';
import { type Rig, startRig, STEP_MS } from './start.js';

const ACCOUNT_HOOK = '/account';
/** One for all: starting it takes longer than most of these tests. */
let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ dbPath: ':memory:' });
});
beforeEach(async () => {
  await rig.control('POST', '/reset');
  await rig.control('POST', '/clock', { freeze: true });
  rig.receiver.received.length = 0;
  await rig.control('POST', '/settings', { webhookUrl: rig.receiver.url + ACCOUNT_HOOK, webhookSecret: 'a secret' });
});
afterAll(() => rig.close());

const kindOf = (name: Sampled) => KINDS.find(({ operation }) => operation === name) as (typeof KINDS)[number];
const callbacks = (reference: string) =>
  rig.receiver.received.filter(({ path }) => path === `/callbacks/${reference}`).map(({ body }) => body);
const webhooks = () =>
  rig.receiver.received.filter(({ path }) => path === ACCOUNT_HOOK).map(({ body }) => body as { event: string });

/** Every ending of every sampled kind. */
const cases = sampled.flatMap((name) =>
  Object.entries(kindOf(name).lifecycle.endings).map(([ending, script]) => ({ name, ending, script })),
);

describe.each(sampled)('%s of the sandbox', (name) => {
  it('is answered as the contract reads it, with its reference, and executed once', async () => {
    const answer = await create(rig, name, 'r1');
    expect(answer.status).toBe(200);
    const data = operations[name].data.parse(answer.body.data) as Record<string, unknown>;
    expect([data['referenceId'], data['reference_id']]).toContain('r1');
    expect(await rig.executions('r1', name)).toBe(1);
  });

  it("is called back with its final status, and the account's webhook gets its event", async () => {
    await create(rig, name, 'r1');
    await rig.advance(20 * STEP_MS);
    const last = kindOf(name).lifecycle.words.interface;
    const statuses = callbacks('r1').map(({ status }) => status as string);
    if (isCalledBack(name)) expect(statuses.at(-1)).toBe(name === 'createOfframp' ? 'SUCCESS' : 'SUCCESSFUL');
    expect(new Set(statuses).size).toBe(statuses.length);
    expect(webhooks().map(({ event }) => event)).toContain(kindOf(name).event);
    expect(last).toBeDefined();
  });

  it('is not executed, and moves no money, if it is refused', async () => {
    const { amount } = SAMPLES[name];
    const rejected = await create(rig, name, 'r1', { [amount]: 10.41 });
    expect([rejected.status, rejected.body.error_code]).toEqual([400, 'TRANSACTION_FAILED']);
    const poor = await create(rig, name, 'r2', { [amount]: 10.42 });
    expect([poor.status, poor.body.message]).toEqual([400, 'Insufficient Funds']);
    expect(await rig.executions('r1', name)).toBe(0);
    expect((await rig.control('GET', '/ledger')).body.entries).toEqual([]);
  });

  it.each(['same-result', 'conflict', 'rejected', 'execute-again'])(
    'is answered by the repeat mode %s when its reference comes again',
    async (repeatMode) => {
      await rig.control('POST', '/settings', { repeatMode });
      const first = await create(rig, name, 'r1');
      const again = await create(rig, name, 'r1');
      expect(await rig.executions('r1', name)).toBe(repeatMode === 'execute-again' ? 2 : 1);
      if (repeatMode === 'same-result') expect(again.body).toEqual(first.body);
      if (repeatMode === 'conflict') expect(again.status).toBe(409);
      if (repeatMode === 'rejected')
        expect([again.status, again.body.error_code]).toEqual([400, 'DUPLICATE_REFERENCE']);
    },
  );

  it.each([
    ['error-before', 0],
    ['error-after', 1],
    ['answer-lost', 1],
    ['garbage', 1],
    ['late-commit', 1],
  ])('has, with the fault %s, %i executions in the end', async (kind, executions) => {
    await rig.control('POST', '/faults', { operation: name, kind, first: 1 });
    await create(rig, name, 'r1').catch(() => undefined);
    const committed = async () => (await rig.control('GET', '/faults/log')).body.injections[0].committed as boolean;
    if (kind === 'late-commit') expect([await rig.executions('r1', name), await committed()]).toEqual([0, false]);
    await rig.advance(20 * STEP_MS);
    expect([await rig.executions('r1', name), await committed()]).toEqual([executions, executions === 1]);
    if (executions === 0) return;
    const { path } = kindOf(name).lifecycle.endings['completed'] as { path: readonly string[] };
    expect((await historyOf(rig, 'r1')).at(-1)).toBe(path.at(-1));
  });
});

describe('an ending of the sandbox', () => {
  const accepted = cases.filter(({ script }) => script.refuses === undefined);

  it.each(accepted)('of $name, $ending, has its history by a scenario', async ({ name, ending, script }) => {
    await rig.control('POST', '/settings', { lateMs: 7_200_000 });
    await rig.control('POST', '/scenarios', { reference: 'r1', ending });
    await create(rig, name, 'r1');
    if (script.pace === 'late') {
      await rig.advance(7_199_999);
      expect(await historyOf(rig, 'r1')).toEqual([kindOf(name).lifecycle.initial, ...script.path.slice(0, -1)]);
    }
    await rig.advance(10_000_000);
    expect(await historyOf(rig, 'r1')).toEqual([kindOf(name).lifecycle.initial, ...script.path]);
    if (script.callbacks === false) expect(rig.receiver.received).toEqual([]);
  });

  it.each(accepted.filter(({ ending }) => ending !== 'completed'))(
    'of $name, $ending, is chosen by the amount, and by phone or account number',
    async ({ name, ending }) => {
      const [decimals] = Object.entries(kindOf(name).lifecycle.magic).find(([, one]) => one === ending) ?? [];
      expect(decimals).toBeDefined();
      const amount = Number(`10${decimals}`);
      await create(rig, name, 'r1', { [SAMPLES[name].amount]: amount });
      const chosen = async (reference: string) =>
        (await rig.control('GET', `/transactions/${reference}`)).body.transactions[0].ending as string;
      expect(await chosen('r1')).toBe(ending);
      if (name === 'sendCrypto') return;
      await create(rig, name, 'r2', partyOf(name, `90000${decimals?.replace('.', '00')}`));
      expect(await chosen('r2')).toBe(ending);
    },
  );
});

function partyOf(name: Sampled, digits: string): Record<string, unknown> {
  if (name === 'createOnramp') return { mobileMoney: { phoneNumber: `+254${digits}` } };
  if (name === 'createOfframp') return { mobileMoneyReceiver: { phoneNumber: `+254${digits}` } };
  if (name === 'createBankWithdrawal') return { bankDetails: { bankCode: 1, accountNumber: digits } };
  return { phoneNumber: `+27${digits}` };
}

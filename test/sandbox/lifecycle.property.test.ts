import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { BRIDGE_STATUSES, type BridgeStatus } from '../../src/contract/vocabulary.js';
import { bridgeEndings, scriptOf, advance, type BridgeInput } from '../../src/sandbox/bridge/endings.js';
import { type BridgePosition, collect, moveOn } from '../../src/sandbox/bridge/money.js';
import { type Rig, startRig, STEP_MS } from './start.js';

const status = fc.constantFrom(...BRIDGE_STATUSES);
const input = fc.oneof<fc.Arbitrary<BridgeInput>[]>(
  fc.record({ kind: fc.constant('time' as const), from: status }),
  fc.record({ kind: fc.constant('report' as const), status }),
);

/** Own arithmetic, in hundredths: the test must not believe the ledger's. */
const cents = (amount: string) => BigInt(Math.round(Number(amount) * 100));

describe('a bridge deposit of the sandbox', () => {
  it('moves only by its table or a report, and its postings balance after every step', () => {
    fc.assert(
      fc.property(fc.constantFrom(...bridgeEndings), fc.array(input, { maxLength: 30 }), (ending, inputs) => {
        const script = scriptOf(ending);
        let position: BridgePosition = {
          customer: 'c',
          amount: '1000.37',
          fee: '10',
          currency: 'KES',
          crypto: { amount: '7.5', unit: 'CUSD' },
          paidOut: false,
          money: 'held',
        };
        const balances = new Map<string, bigint>();
        const post = (postings: ReturnType<typeof collect>) => {
          for (const { account, currency, amount } of postings) {
            const key = `${currency} ${account}`;
            balances.set(key, (balances.get(key) ?? 0n) + cents(amount));
          }
        };
        const sum = (currency: string) =>
          [...balances].reduce((total, [key, amount]) => (key.startsWith(currency) ? total + amount : total), 0n);
        post(collect(position));

        let now: BridgeStatus = 'DEPOSIT_INITIATED';
        for (const one of inputs) {
          const next = advance(script, now, one);
          if (next === undefined) continue;
          expect(next).toBe(one.kind === 'time' ? script.next[now] : one.status);
          const move = moveOn(position, next);
          if (move !== undefined) {
            post(move.postings);
            position = { ...position, paidOut: move.paidOut, money: move.money };
          }
          now = next;
          expect([sum('KES'), sum('CUSD')]).toEqual([0n, 0n]);
          expect(balances.get('KES service:held')).toBe(position.money === 'held' ? 100_037n : 0n);
          expect(balances.get('CUSD crypto-out') ?? 0n).toBe(position.paidOut ? 750n : 0n);
        }
        // A customer who got the money back got exactly what was collected, once.
        expect(balances.get('KES customer:c')).toBe(position.money === 'returned' ? 0n : -100_037n);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('the sandbox, under random orders,', () => {
  const order = fc.oneof(
    fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 3 * STEP_MS }) }),
    fc.record({ do: fc.constant('report' as const), nth: fc.nat(3), status }),
    fc.record({
      do: fc.constant('deposit' as const),
      nth: fc.nat(3),
      decimals: fc.constantFrom(0, 11, 13, 14, 15, 21),
    }),
  );

  async function obey(rig: Rig, one: typeof order extends fc.Arbitrary<infer O> ? O : never): Promise<void> {
    if (one.do === 'advance') return rig.advance(one.ms);
    if (one.do === 'deposit') {
      await rig.deposit(`r${one.nth}`, { amount: 100 + one.decimals / 100 });
      return undefined;
    }
    const found = await rig.control('GET', `/deposits/r${one.nth}`);
    if (found.status === 404) return undefined;
    await rig.call('POST', '/api/v3/deposit/crypto-bridge/webhook/provider/settlement', {
      webhook_type: 'x',
      provider_reference_id: `r${one.nth}`,
      kotani_reference_id: found.body.deposits[0].kotani_reference_id,
      status: one.status,
      timestamp: '2025-01-01T00:00:00Z',
      crypto_payment: {},
    });
    return undefined;
  }

  it('keeps its books balanced, executes a reference once, and pays no one twice', async () => {
    const rig = await startRig({ dbPath: ':memory:' });
    await fc.assert(
      fc.asyncProperty(fc.array(order, { maxLength: 15 }), async (orders) => {
        await rig.control('POST', '/reset');
        await rig.control('POST', '/clock', { freeze: true });
        for (const one of orders) {
          await obey(rig, one);
          const { balances } = (await rig.control('GET', '/ledger')).body as {
            balances: Record<string, Record<string, string>>;
          };
          const totals = new Map<string, bigint>();
          for (const ofAccount of Object.values(balances)) {
            for (const [currency, amount] of Object.entries(ofAccount)) {
              totals.set(currency, (totals.get(currency) ?? 0n) + cents(amount));
            }
          }
          expect([...totals.values()].every((total) => total === 0n)).toBe(true);
        }
        for (const nth of [0, 1, 2, 3]) {
          expect(await rig.executions(`r${nth}`)).toBeLessThanOrEqual(1);
          const { entries } = (await rig.control('GET', `/ledger?reference=r${nth}`)).body;
          const kinds = entries.map(({ kind }: { kind: string }) => kind) as string[];
          expect(new Set(kinds).size).toBe(kinds.length);
        }
      }),
      { numRuns: 25 },
    );
    await rig.close();
  });
});

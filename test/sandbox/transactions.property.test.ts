import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { KINDS } from '../../src/sandbox/kinds.js';
import type { Posting } from '../../src/sandbox/ledger.js';
import { advance, type Input, scriptOf } from '../../src/sandbox/transactions/lifecycle.js';
import { VOCABULARIES } from '../../src/sandbox/settings.js';
import { create, INVOICE, INVOICE_BODY, PAYMENT_BODY, SAMPLES, sampled } from './samples.js';
import { type Rig, startRig, STEP_MS } from './start.js';

const kinds = KINDS.map((kind) => [kind.operation, kind] as const);

describe('the lifecycle in the sandbox', () => {
  it.each(kinds)(
    'of %s has endings that its table allows, one for each magic number, and words for its statuses',
    (_, kind) => {
      const { initial, moves, endings, magic, words } = kind.lifecycle;
      for (const script of Object.values(endings)) {
        const way = [initial, ...script.path, ...(script.onInvoice === undefined ? [] : [script.onInvoice])];
        for (const [at, status] of way.slice(1).entries()) expect(moves[way[at] ?? '']).toContain(status);
      }
      for (const ending of Object.values(magic)) expect(Object.keys(endings)).toContain(ending);
      expect(new Set(Object.values(magic)).size).toBe(Object.values(magic).length);
      for (const vocabulary of VOCABULARIES)
        for (const status of Object.keys(words[vocabulary])) expect(Object.keys(moves)).toContain(status);
    },
  );

  it.each(kinds)('of %s has no way back: no status is entered twice', (_, { lifecycle: { moves } }) => {
    const reach = (from: string, seen: readonly string[]): void => {
      expect(seen).not.toContain(from);
      for (const to of moves[from] ?? []) reach(to, [...seen, from]);
    };
    for (const status of Object.keys(moves)) reach(status, []);
  });

  it.each(kinds)('of %s only moves by its table, whatever happens to it', (_, { lifecycle }) => {
    const status = fc.constantFrom(...Object.keys(lifecycle.moves), 'NONSENSE', '__proto__', 'constructor');
    const input = fc.oneof<fc.Arbitrary<Input>[]>(
      fc.record({ kind: fc.constant('time' as const), from: status }),
      fc.record({ kind: fc.constant('invoice' as const) }),
      fc.record({ kind: fc.constant('control' as const), status }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(lifecycle.endings)), fc.array(input), (ending, inputs) => {
        const script = scriptOf(lifecycle, ending);
        let now: string = lifecycle.initial;
        for (const one of inputs) {
          const next = advance(lifecycle, script, now, one);
          if (next === undefined) continue;
          expect(lifecycle.moves[now]).toContain(next);
          if (one.kind === 'time') expect([lifecycle.initial, ...script.path]).toContain(next);
          now = next;
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Own arithmetic, in millionths: the test must not believe the ledger's. */
const millionths = (amount: string) => {
  const [whole = '0', decimals = ''] = amount.replace('-', '').split('.');
  const value = BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0').slice(0, 6));
  return amount.startsWith('-') ? -value : value;
};

describe('the ledger of the sandbox', () => {
  const order = fc.oneof(
    fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 4 * STEP_MS }) }),
    fc.record({
      do: fc.constant('create' as const),
      name: fc.constantFrom(...sampled),
      nth: fc.nat(2),
      decimals: fc.constantFrom('00', '12', '13', '14', '15', '17', '21', '26', '27', '29', '41'),
    }),
    fc.record({ do: fc.constant('invoice' as const), nth: fc.nat(2), pay: fc.boolean() }),
    fc.record({
      do: fc.constant('move' as const),
      nth: fc.nat(2),
      status: fc.constantFrom(
        'SUCCESSFUL',
        'FAILED',
        'REVERSED',
        'SUCCESS',
        'REFUND_PENDING',
        'REFUNDED',
        'CRYPTO_FAILED',
      ),
    }),
  );
  type Order = typeof order extends fc.Arbitrary<infer O> ? O : never;

  async function obey(rig: Rig, one: Order): Promise<unknown> {
    const reference = `r${'nth' in one ? one.nth : 0}`;
    switch (one.do) {
      case 'advance':
        return rig.advance(one.ms);
      case 'create':
        return create(rig, one.name, reference, { [SAMPLES[one.name].amount]: Number(`100.${one.decimals}`) });
      case 'move':
        return rig.control('POST', `/transactions/${reference}/move`, { status: one.status });
      case 'invoice':
        if (one.pay) return rig.call('POST', `${INVOICE}/pay`, { ...PAYMENT_BODY, referenceId: reference });
        return rig.call('POST', INVOICE, { ...INVOICE_BODY, referenceId: reference });
      default:
        return one satisfies never;
    }
  }

  it('balances after every order, and moves no money twice for one execution', async () => {
    const rig = await startRig({ dbPath: ':memory:' });
    await fc.assert(
      fc.asyncProperty(fc.array(order, { maxLength: 20 }), async (orders) => {
        await rig.control('POST', '/reset');
        await rig.control('POST', '/clock', { freeze: true });
        for (const one of orders) {
          await obey(rig, one);
          const { entries } = (await rig.control('GET', '/ledger')).body as {
            entries: { kind: string; executionId: number; postings: Posting[] }[];
          };
          for (const { postings } of entries) {
            const sums = new Map<string, bigint>();
            for (const { currency, amount } of postings)
              sums.set(currency, (sums.get(currency) ?? 0n) + millionths(amount));
            expect([...sums.values()].every((sum) => sum === 0n)).toBe(true);
          }
          const steps = entries.map(({ kind, executionId }) => `${kind} ${executionId}`);
          expect(new Set(steps).size).toBe(steps.length);
          const { balances } = (await rig.control('GET', '/ledger')).body as {
            balances: Record<string, Record<string, string>>;
          };
          for (const held of Object.values(balances['service:held'] ?? {}))
            expect(millionths(held)).toBeGreaterThanOrEqual(0n);
        }
        for (const name of [...sampled, 'createInvoice', 'payInvoice'])
          for (const reference of ['r0', 'r1', 'r2'])
            expect(await rig.executions(reference, name)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 25 },
    );
    await rig.close();
  });
});

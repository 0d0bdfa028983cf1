import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import type { ClaimKey, ClaimStore } from '../../src/store/claim.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

/*
 * Attempts are small programs: reserve, mark sending, POST, write down what came of it. A command moves one of them by
 * one step. An attempt that is not moved for a while has crashed; one that is moved later is a zombie that woke up and
 * goes on where it was, knowing nothing. Commands of one group run at the same time.
 */
type Ending = 'answer' | 'rejection' | 'not-sent' | 'unknown';
type Command =
  | { readonly kind: 'start'; readonly store: number }
  | { readonly kind: 'step'; readonly attempt: number; readonly ending: Ending }
  | { readonly kind: 'lookup' | 'void' | 'close' | 'send-again' };

const start: fc.Arbitrary<Command> = fc.record({ kind: fc.constant('start' as const), store: fc.nat(1) });
const step: fc.Arbitrary<Command> = fc.record({
  kind: fc.constant('step' as const),
  attempt: fc.nat(5),
  ending: fc.constantFrom<Ending>('answer', 'rejection', 'not-sent', 'not-sent', 'unknown', 'unknown'),
});
const others = (...kinds: ('lookup' | 'void' | 'close' | 'send-again')[]): fc.Arbitrary<Command> =>
  fc.constantFrom(...kinds).map((kind) => ({ kind }));
const groups = (...rare: fc.Arbitrary<Command>[]) =>
  fc.array(
    fc.array(
      fc.oneof(
        { weight: 3, arbitrary: start },
        { weight: 14, arbitrary: step },
        ...rare.map((arbitrary) => ({ weight: 1, arbitrary })),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    { minLength: 8, maxLength: 24 },
  );

interface Attempt {
  readonly claims: ClaimStore;
  readonly owner: string;
  at: 'reserve' | 'mark' | 'post' | 'release' | 'done' | 'moving';
}

/** Plays the commands. @returns how often a POST left, and how often a person ordered that it is sent again */
async function play(
  stores: readonly ClaimStore[],
  key: ClaimKey,
  commands: readonly (readonly Command[])[],
): Promise<{ sends: number; orders: number }> {
  const attempts: Attempt[] = [];
  let sends = 0;
  let orders = 0;
  const [first] = stores;
  if (first === undefined) throw new Error('no store');
  const begin = (claims: ClaimStore, owner = `owner-${attempts.length}`) => {
    attempts.push({ claims, owner, at: 'reserve' });
  };

  const move = async (attempt: Attempt, ending: Ending): Promise<void> => {
    const { claims, owner, at } = attempt;
    attempt.at = 'moving';
    switch (at) {
      case 'reserve': {
        const found = await claims.reserve(key, { owner, flowId: 'flow', fingerprint: 'f' });
        attempt.at = found.kind === 'reserved' ? 'mark' : 'done';
        break;
      }
      case 'mark':
        attempt.at = (await claims.markSending(key, owner)) === 'sending' ? 'post' : 'done';
        break;
      case 'post':
        attempt.at = ending === 'not-sent' ? 'release' : 'done';
        if (ending !== 'not-sent') sends += 1;
        if (ending === 'answer') await claims.recordAnswer(key, { owner });
        if (ending === 'rejection') await claims.recordRejection(key, owner, { httpStatus: 400, message: 'no' });
        break;
      case 'release':
        // Whatever the store says, it tries again: the next compare-and-set decides.
        await claims.release(key, owner);
        attempt.at = 'mark';
        break;
      case 'done':
      case 'moving':
        attempt.at = at;
        break;
      default:
        at satisfies never;
    }
  };

  const run = async (command: Command): Promise<void> => {
    switch (command.kind) {
      case 'start':
        begin(stores[command.store] ?? first);
        break;
      case 'step': {
        const attempt = attempts[command.attempt % Math.max(attempts.length, 1)];
        if (attempt !== undefined && attempt.at !== 'moving') await move(attempt, command.ending);
        break;
      }
      case 'lookup':
        if (sends > 0) await first.recordAnswer(key, {});
        break;
      case 'void':
        await first.voidUnsent(key, { flowId: 'flow', fingerprint: 'f' }, 'x');
        break;
      case 'close':
        await first.closeNotExecuted(key, { actor: 'jane', note: '' });
        break;
      case 'send-again': {
        const owner = `ordered-${attempts.length}`;
        begin(first, owner);
        if (await first.orderSendAgain(key, owner, { actor: 'jane', note: '' })) orders += 1;
        break;
      }
      default:
        command satisfies never;
    }
  };

  for (const group of commands) await Promise.all(group.map(run));
  return { sends, orders };
}

describeStores('a claim', (kind) => {
  let temporary: TemporaryStore;
  let stores: ClaimStore[];
  let keys = 0;
  const nextKey = (): ClaimKey => ({ account: 'a', operation: 'o', reference: `r${(keys += 1)}` });
  beforeAll(async () => {
    temporary = await makeTemporaryStore(kind);
    stores = [(await temporary.open()).claims, (await temporary.open()).claims];
  });
  afterAll(() => temporary.remove());

  describe('whatever attempts, crashes and zombies do', () => {
    it('at most one POST leaves for a claim', async () => {
      const sent = new Set<number>();
      await fc.assert(
        fc.asyncProperty(groups(), async (commands) => {
          const { sends } = await play(stores, nextKey(), commands);
          sent.add(sends);
          return sends <= 1;
        }),
        { numRuns: 300 },
      );
      // Both happened, else nothing was tested.
      expect(sent).toEqual(new Set([0, 1]));
    }, 120_000);

    it('at most one more leaves for each order of a person', async () => {
      let ordered = 0;
      await fc.assert(
        fc.asyncProperty(groups(others('send-again', 'lookup', 'void', 'close')), async (commands) => {
          const { sends, orders } = await play(stores, nextKey(), commands);
          ordered += orders;
          return sends <= 1 + orders;
        }),
        { numRuns: 300 },
      );
      expect(ordered).toBeGreaterThan(10);
    }, 120_000);
  });

  describe('this test finds', () => {
    const finds = async (bug: (claims: ClaimStore) => Partial<ClaimStore>): Promise<void> => {
      const broken = stores.map((claims) => ({ ...claims, ...bug(claims) }));
      const run = await fc.check(
        fc.asyncProperty(groups(), async (commands) => (await play(broken, nextKey(), commands)).sends <= 1),
        { numRuns: 2000, endOnFailure: true },
      );
      expect(run.failed).toBe(true);
    };
    const asOwner = async (claims: ClaimStore, key: ClaimKey) => (await claims.get(key))?.owner ?? '';

    it(
      'a store that looks first, and then writes without looking',
      () =>
        finds((claims) => ({
          async markSending(key, owner) {
            const claim = await claims.get(key);
            if (claim?.phase !== 'reserved' || claim.owner !== owner) return 'fenced';
            await claims.markSending(key, owner);
            return 'sending';
          },
        })),
      120_000,
    );

    it(
      'a store that takes over what is in sending',
      () =>
        finds((claims) => ({
          reserve: async (key, attempt) => {
            await claims.release(key, await asOwner(claims, key));
            return claims.reserve(key, attempt);
          },
        })),
      120_000,
    );
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import { NotSentError, RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { ClaimKey, ClaimStore } from '../../src/store/claim.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { Store } from '../../src/store/store.js';
import { depsOver, sendRequest } from './deciding-activities.js';
import { describeStores } from './store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

/*
 * Attempts are the real `submitUnderClaim`, held before each of its calls: to the claims, and before the POST leaves. A
 * command lets one of them make one call. An attempt that is not moved for a while has crashed; one that is moved later
 * is a zombie that woke up and continues where it was, knowing nothing. Commands of one group run at the same time.
 * `lost`: the store writes, and its answer does not come back.
 */
type Ending = 'answer' | 'rejection' | 'not-sent' | 'unknown';
type Command =
  | { readonly kind: 'start'; readonly store: number }
  | { readonly kind: 'step'; readonly attempt: number; readonly ending: Ending; readonly lost: boolean }
  | { readonly kind: 'lookup' | 'void' | 'close' | 'send-again' };
type Step = Extract<Command, { kind: 'step' }>;

const start: fc.Arbitrary<Command> = fc.record({ kind: fc.constant('start' as const), store: fc.nat(1) });
const step: fc.Arbitrary<Command> = fc.record({
  kind: fc.constant('step' as const),
  attempt: fc.nat(5),
  ending: fc.constantFrom<Ending>('answer', 'rejection', 'not-sent', 'not-sent', 'unknown', 'unknown'),
  lost: fc.nat(7).map((of) => of === 0),
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

/** Two connections to one store, and so one deployment. */
interface StoreUnderTest {
  readonly claims: ClaimStore;
  readonly id: string;
}

interface Attempt {
  /** Makes the call that it is held before; resolves once it is held again, or over. */
  move(step: Step): Promise<void>;
}

const ERRORS = {
  rejection: new RejectedError('sendCrypto', {
    httpStatus: 400,
    message: 'no',
    fields: [],
    isRateExpired: false,
    isAboutReference: false,
  }),
  'not-sent': new NotSentError('sendCrypto', 'refused'),
  unknown: new UnknownOutcomeError('sendCrypto', 'no-answer' as never),
} as const;

/** Begins an attempt. `sent` is called when a POST leaves that may have been executed. */
function beginAttempt({ claims, id }: StoreUnderTest, key: ClaimKey, owner: string, sent: () => void): Attempt {
  const held: { open?: (step: Step) => void; arrived: () => void } = { arrived: () => undefined };
  const turn = () =>
    new Promise<Step>((open) => {
      held.open = open;
      held.arrived();
    });
  /** A release that is tried again waits for real, so its answer is never lost here. */
  const heldBefore =
    (name: string, call: (...args: never[]) => Promise<unknown>) =>
    async (...args: never[]) => {
      const { lost } = await turn();
      const result = await call(...args);
      if (lost && name !== 'release') throw new StoreUnavailableError('ECONNRESET', 'database');
      return result;
    };
  const steered = Object.fromEntries(
    Object.entries(claims).map(([name, call]) => [
      name,
      heldBefore(name, call as (...args: never[]) => Promise<unknown>),
    ]),
  );
  const deps = depsOver({ claims: steered } as unknown as Store, {
    newOwner: () => owner,
    account: key.account,
  });
  const claim = {
    operation: key.operation as 'sendCrypto',
    reference: key.reference,
    flowId: 'flow',
    fingerprint: 'f',
    pin: { store: id, account: key.account, epoch: 1 },
  };
  const send = async () => {
    const { ending } = await turn();
    if (ending === 'not-sent') throw ERRORS[ending];
    sent();
    if (ending !== 'answer') throw ERRORS[ending];
    return { owner };
  };
  const over = submitUnderClaim(deps, {
    claim,
    guard: { flowId: claim.flowId, statuses: [] },
    request: () => sendRequest(claim.reference),
    send,
  }).then(
    () => undefined,
    // Temporal would try again: another attempt.
    () => undefined,
  );
  return {
    async move(step) {
      const { open } = held;
      if (open === undefined) return;
      delete held.open;
      const heldAgain = new Promise<void>((arrived) => {
        held.arrived = arrived;
      });
      open(step);
      await Promise.race([heldAgain, over]);
    },
  };
}

/** Plays the commands. @returns how often a POST left, and how often a person ordered that it is sent again */
async function play(
  stores: readonly StoreUnderTest[],
  key: ClaimKey,
  commands: readonly (readonly Command[])[],
): Promise<{ sends: number; orders: number }> {
  const attempts: Attempt[] = [];
  let sends = 0;
  let orders = 0;
  const [first] = stores;
  if (first === undefined) throw new Error('no store');
  const begin = (store: StoreUnderTest) => {
    const sent = () => void (sends += 1);
    attempts.push(beginAttempt(store, key, `owner-${attempts.length}`, sent));
  };

  const run = async (command: Command): Promise<void> => {
    switch (command.kind) {
      case 'start':
        begin(stores[command.store] ?? first);
        break;
      case 'step':
        await attempts[command.attempt % Math.max(attempts.length, 1)]?.move(command);
        break;
      case 'lookup':
        if (sends > 0) await first.claims.recordAnswer(key, {});
        break;
      case 'void':
        await first.claims.voidUnsent(key, { flowId: 'flow', fingerprint: 'f' }, 'x');
        break;
      case 'close':
        await first.claims.closeNotExecuted(key, { actor: 'jane', note: '' });
        break;
      case 'send-again': {
        const owner = `ordered-${attempts.length}`;
        begin(first);
        if (await first.claims.orderSendAgain(key, owner, { actor: 'jane', note: '' })) orders += 1;
        break;
      }
      default:
        command satisfies never;
    }
  };

  for (const group of commands) await Promise.all(group.map(run));
  return { sends, orders };
}

describeStores('submitUnderClaim', (kind) => {
  let temporary: TemporaryStore;
  let stores: StoreUnderTest[];
  // The logic is the same; of Postgres it is the transactions that are tried.
  const numRuns = kind === 'libsql' ? 300 : 100;
  let keys = 0;
  const nextKey = (): ClaimKey => ({ account: 'a', operation: 'sendCrypto', reference: `r${(keys += 1)}` });
  beforeAll(async () => {
    temporary = await makeTemporaryStore(kind);
    const [one, other] = [await temporary.open(), await temporary.open()];
    const { id } = await one.deployment.read();
    stores = [one, other].map(({ claims }) => ({ claims, id }));
  });
  afterAll(() => temporary.remove());

  it('sends at most one POST for a claim, whatever attempts, crashes and zombies do', async () => {
    const sent = new Set<number>();
    await fc.assert(
      fc.asyncProperty(groups(), async (commands) => {
        const { sends } = await play(stores, nextKey(), commands);
        sent.add(sends);
        return sends <= 1;
      }),
      { numRuns },
    );
    // Both happened, else nothing was tested.
    expect(sent).toEqual(new Set([0, 1]));
  }, 120_000);

  it('sends at most one more POST for each send-again, whatever attempts, crashes and zombies do', async () => {
    let ordered = 0;
    await fc.assert(
      fc.asyncProperty(groups(others('send-again', 'lookup', 'void', 'close')), async (commands) => {
        const { sends, orders } = await play(stores, nextKey(), commands);
        ordered += orders;
        return sends <= 1 + orders;
      }),
      { numRuns },
    );
    expect(ordered).toBeGreaterThan(0);
  }, 120_000);

  // The check of the check needs no second database.
  if (kind === 'postgres') return;

  describe('sends more than one POST, which this test finds, with', () => {
    const finds = async (bug: (claims: ClaimStore) => Partial<ClaimStore>): Promise<void> => {
      const broken = stores.map(({ claims, id }) => ({ id, claims: { ...claims, ...bug(claims) } }));
      const run = await fc.check(
        fc.asyncProperty(groups(), async (commands) => (await play(broken, nextKey(), commands)).sends <= 1),
        { numRuns: 2000, endOnFailure: true },
      );
      expect(run.failed).toBe(true);
    };
    const asOwner = async (claims: ClaimStore, key: ClaimKey) => (await claims.get(key))?.owner ?? '';

    it(
      'a store that reads first, and then writes without a check',
      () =>
        finds((claims) => ({
          // Without the guard it only reserves.
          reserve: (key, attempt) => claims.reserve(key, attempt),
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
      'a store that takes over a claim in sending',
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

import { Context } from '@temporalio/activity';
import type { ActivityDeps } from '../../activities/index.js';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { ClaimStore } from '../../src/store/claim.js';
import type { RepeatMode } from '../../src/sandbox/settings.js';
import type { Weather } from './world/weather.js';
import type { Plant } from './world/world.js';

/** A bug that a developer might make, made here by replacing a part: the simulation must find it. */
export interface PlantedBug {
  readonly name: string;
  readonly story: string;
  /** What it breaks, by the invariant that shows it. */
  readonly breaks: readonly string[];
  /** The first run that finds it, by the last search; a test searches again from there. */
  readonly seed: number;
  readonly kind?: string;
  readonly repeatMode?: RepeatMode;
  readonly careless?: boolean;
  readonly weather?: Partial<Weather>;
  readonly plant: Plant;
}

/** Replaces a text that must be there: a plant that changes nothing would prove nothing. */
function replacing(...pairs: readonly (readonly [string, string])[]) {
  return (text: string): string => pairs.reduce((all, [from, to]) => all.replaceAll(from, to), text);
}

const withClaims = (change: (claims: ClaimStore) => Partial<ClaimStore>): Plant => ({
  deps: (deps) => ({
    ...deps,
    store: { ...deps.store, claims: { ...deps.store.claims, ...change(deps.store.claims) } },
  }),
});

const MONEY = ['createOnramp', 'sendCrypto', 'createOfframp', 'createBankCheckout', 'createBankWithdrawal', 'createInvoice', 'payInvoice', 'createBridgeDeposit'] as const; // prettier-ignore

/** Each money POST of the client behind something that changes what it throws. */
function withMoneyErrors(judge: (error: unknown) => unknown) {
  return (deps: ActivityDeps): ActivityDeps => {
    const service = { ...deps.service } as unknown as Record<string, (argument: unknown) => Promise<unknown>>;
    for (const name of MONEY) {
      const honest = service[name];
      service[name] = async (argument) => {
        try {
          return await honest?.(argument);
        } catch (error) {
          throw judge(error);
        }
      };
    }
    return { ...deps, service: service as never };
  };
}

export const PLANTS: readonly PlantedBug[] = [
  {
    name: 'sending-after-post',
    story: 'the claim is not marked as sending before the POST: a crash after it sends once more',
    breaks: ['I1'],
    seed: 18,
    kind: 'crypto-send',
    repeatMode: 'execute-again',
    weather: { crash: 0.03 },
    plant: withClaims((claims) => ({
      reserve: (key, attempt) => claims.reserve(key, attempt),
      markSending: () => Promise.resolve('sending' as const),
    })),
  },
  {
    name: 'timeout-is-failure',
    story: 'a lost answer is taken for a refusal',
    breaks: ['I8'],
    seed: 1,
    plant: {
      deps: withMoneyErrors((error) =>
        error instanceof UnknownOutcomeError
          ? new RejectedError(error.operation, {
              httpStatus: 400,
              message: 'timeout',
              fields: [],
              isRateExpired: false,
              isAboutReference: false,
            })
          : error,
      ),
    },
  },
  {
    name: 'reserve-steals-sending',
    story: 'another attempt takes over a claim that is being sent',
    breaks: ['claim'],
    seed: 1,
    weather: { completion: 0.2, crash: 0.02 },
    plant: {
      sql: replacing([
        `WHERE claims.phase = 'reserved' AND claims.fingerprint`,
        `WHERE claims.phase IN ('reserved', 'sending') AND claims.fingerprint`,
      ]),
    },
  },
  {
    name: 'release-of-unknown',
    story: 'a claim whose POST has an unknown outcome is handed back: the next attempt sends again',
    breaks: ['I1'],
    seed: 24,
    kind: 'crypto-send',
    repeatMode: 'execute-again',
    weather: { crash: 0.03, completion: 0.2 },
    plant: {
      deps: (deps) => {
        const { claims } = deps.store;
        const reserve: ClaimStore['reserve'] = async (key, ...asks) => {
          const found = await claims.reserve(key, ...asks);
          if (found.kind !== 'sending') return found;
          const claim = await claims.get(key);
          await claims.release(key, claim?.owner ?? '');
          return claims.reserve(key, ...asks);
        };
        return { ...deps, store: { ...deps.store, claims: { ...claims, reserve } } };
      },
    },
  },
  {
    name: 'repeat-not-counted',
    story: 'an event that comes again is acknowledged, and leaves no mark',
    breaks: ['I5'],
    seed: 1,
    weather: { delivery: 0.6 },
    plant: { sql: replacing([`repeats = repeats + 1`, `repeats = repeats`]) },
  },
  {
    name: 'unknown-is-not-executed',
    story: 'a workflow that finds nothing in the settle window says that nothing was executed',
    breaks: ['I8'],
    seed: 12,
    kind: 'bank-withdrawal',
    weather: { requestFails: 0.5, requestLate: 0.3 },
    plant: {
      bundle: replacing([
        `if(!post.windowOver)return{do:"ask-on"};`,
        `if(!post.windowOver)return{do:"ask-on"};return{do:"end-not-sent"};`,
      ]),
    },
  },
  {
    name: 'send-again-of-answered',
    story: 'an order to send again reopens a claim that was answered',
    breaks: ['claim'],
    seed: 51,
    careless: true,
    kind: 'bank-withdrawal',
    weather: { requestFails: 0.5, requestLate: 0.3, stops: true, resets: true, clearsAfterMs: 6_000_000 },
    plant: {
      sql: replacing([
        `phase = 'sending' AND owner <> ? AND NOT`,
        `phase IN ('sending', 'answered') AND owner <> ? AND NOT`,
      ]),
    },
  },
  {
    name: 'late-mark-reopens',
    story: 'a mark that comes late changes a row that was settled',
    breaks: ['inbox'],
    seed: 9,
    weather: { delivery: 0.6, temporalFails: 0.08 },
    plant: { sql: replacing([`(settled_at IS NULL OR state = 'unverified')`, `true`]) },
  },
  {
    name: 'old-quote',
    story: 'a retry counts the life of its quote from its own start, and sends one that is too old',
    breaks: ['quote'],
    seed: 12,
    kind: 'bridge-transfer',
    weather: { storeFails: 0.6, clearsAfterMs: 6_000_000 },
    plant: {
      activities: (activities) => ({
        ...activities,
        submitBridgeDeposit: (order: object) => {
          const { currentAttemptScheduledTimestampMs: quotedAtMs } = Context.current().info;
          return (activities['submitBridgeDeposit'] as (order: object) => unknown)({ ...order, quotedAtMs });
        },
      }),
    },
  },
];

export const plantNamed = (name: string): PlantedBug => {
  const found = PLANTS.find((planted) => planted.name === name);
  if (found === undefined) throw new Error(`no planted bug "${name}": ${PLANTS.map((one) => one.name).join(', ')}`);
  return found;
};

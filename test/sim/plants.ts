import type { ActivityDeps } from '../../activities/index.js';
import { DuplicateReferenceError, RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { ClaimStore } from '../../src/store/claim.js';
import type { RepeatMode } from '../../src/sandbox/settings.js';
import { freeingWhatIsSent } from '../plants/in-activities.js';
import type { PlantName } from '../plants/index.js';
import type { Weather } from './world/weather.js';
import type { Plant } from './world/world.js';

/** A bug that a developer might make, made here by replacing a part: the simulation must find it. */
export interface PlantedBug {
  readonly name: string;
  readonly story: string;
  /**
   * Its line in the reviewers' list: of their mutations that no test turned red, or, with its number, of their table of
   * wrong decisions about money.
   */
  readonly listed?: string;
  /** What it breaks, by the invariant that shows it. */
  readonly breaks: readonly string[];
  /** A run that finds it, by the last search; a test searches again from there. */
  readonly seed: number;
  readonly kind?: string;
  readonly ending?: string;
  readonly repeatMode?: RepeatMode;
  readonly careless?: boolean;
  readonly weather?: Partial<Weather>;
  /** Another dependency of the simulation. */
  readonly plant?: Plant;
  /** Changes of the sources: it is played in a copy. */
  readonly plants?: readonly PlantName[];
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

const refusal = (operation: RejectedError['operation'], message: string, httpStatus = 400): RejectedError =>
  new RejectedError(operation, { httpStatus, message, fields: [], isRateExpired: false, isAboutReference: false, saysNoRecord: httpStatus === 404 }); // prettier-ignore

export const PLANTS: readonly PlantedBug[] = [
  {
    name: 'sending-after-post',
    story: 'the claim is not marked as sending before the POST: a crash after it sends once more',
    breaks: ['I1'],
    seed: 23,
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
    seed: 76,
    plant: {
      deps: withMoneyErrors((error) =>
        error instanceof UnknownOutcomeError ? refusal(error.operation, 'timeout') : error,
      ),
    },
  },
  {
    name: 'reserve-steals-sending',
    story: 'another attempt takes over a claim that is being sent',
    listed: '`reserve` stealing the owner of a claim in `sending`',
    breaks: ['claim'],
    seed: 7,
    weather: { completion: 0.2, crash: 0.02 },
    plants: ['reserve-steals-sending'],
  },
  {
    name: 'release-of-unknown',
    story: 'a claim whose POST has an unknown outcome is handed back: the next attempt sends again',
    breaks: ['I1'],
    seed: 7,
    kind: 'crypto-send',
    repeatMode: 'execute-again',
    weather: { crash: 0.03, completion: 0.2 },
    plant: withClaims(freeingWhatIsSent),
  },
  {
    name: 'repeat-not-counted',
    story: 'an event that comes again is acknowledged, and leaves no mark',
    breaks: ['I5'],
    seed: 4,
    weather: { delivery: 0.6 },
    plants: ['repeat-not-counted'],
  },
  {
    name: 'unknown-is-not-executed',
    story: 'a workflow that finds nothing in the settle window says that nothing was executed',
    breaks: ['I8'],
    seed: 6,
    kind: 'bank-withdrawal',
    weather: { requestFails: 0.5, requestLate: 0.3 },
    plants: ['unknown-is-not-executed'],
  },
  {
    name: 'send-again-of-answered',
    story: 'an order to send again reopens a claim that was answered',
    listed: 'send-again reopening an answered claim',
    breaks: ['claim'],
    seed: 321,
    careless: true,
    ending: 'no-callbacks-ever',
    kind: 'bank-checkout',
    weather: { requestFails: 0.5, requestLate: 0.3, stops: true, resets: true, clearsAfterMs: 6_000_000 },
    plants: ['send-again-of-answered'],
  },
  {
    name: 'late-mark-reopens',
    story: 'a mark that comes late changes a row that was settled',
    listed: 'a late mark reopening a settled row',
    breaks: ['inbox'],
    seed: 12,
    weather: { delivery: 0.6, temporalFails: 0.08 },
    plants: ['late-mark-reopens'],
  },
  {
    name: 'old-quote',
    story: 'a retry counts the life of its quote from its own start, and sends one that is too old',
    listed: 'a retry that sends an old quote',
    breaks: ['quote'],
    seed: 4259,
    kind: 'bridge-transfer',
    weather: { storeFails: 0.6, clearsAfterMs: 3_000_000, restores: false },
    plants: ['old-quote'],
  },
  {
    name: 'void-hides-answer',
    story: 'an answer that comes after a person closed the claim is not written over `void`',
    listed: 'an answer no longer overriding `void`',
    breaks: ['claim'],
    seed: 190,
    careless: true,
    kind: 'bank-withdrawal',
    ending: 'no-callbacks-ever',
    repeatMode: 'execute-again',
    weather: { stopsWaiting: 0.5, longestStopMs: 1_500_000, clearsAfterMs: 6_000_000 },
    plants: ['void-hides-answer'],
  },
  {
    name: 'refund-against-refunded',
    story: 'a REFUNDED that came in does not stop our refund',
    listed: 'REFUNDED in the inbox not stopping our refund',
    breaks: ['I4'],
    seed: 5,
    kind: 'bridge-transfer',
    ending: 'failed-then-refunded',
    plants: ['their-refund-is-none'],
  },
  {
    name: 'lookup-refused-is-unpaid',
    story: 'an invoice whose status lookup is refused or unreadable counts as not paid',
    listed: '1: the lookup answers 403, 400 or nothing, and the invoice is taken as not paid',
    breaks: ['I8'],
    seed: 2,
    kind: 'invoice-payment',
    weather: { lookupsRefused: true },
    plant: {
      deps: (deps) => ({
        ...deps,
        service: {
          ...deps.service,
          getInvoicePayment: (reference: string) =>
            deps.service.getInvoicePayment(reference).catch((error: Error) => {
              throw error instanceof RejectedError ? refusal(error.operation, 'not found', 404) : error;
            }),
        },
      }),
    },
  },
  {
    name: 'refund-as-announced',
    story: 'the amount of a refund is what the answer to the deposit announced, however much came in',
    listed: '4: the answer announces a refund of more than was paid in, and that was sent',
    breaks: ['I4'],
    seed: 1,
    kind: 'bridge-transfer',
    ending: 'failed-no-refund',
    weather: { oddRefunds: true },
    plants: ['refund-as-announced'],
  },
  {
    name: 'bare-failure-is-early',
    story: 'a FAILED that names no stage owes no refund, although the crypto was paid before it',
    listed: 'PAYMENT_SENT, then a bare FAILED owing no refund',
    breaks: ['I8'],
    seed: 1,
    kind: 'bridge-transfer',
    ending: 'failed-no-refund',
    weather: { bareFailures: true },
    plants: ['bare-failure-owes-nothing'],
  },
  {
    name: 'duplicate-is-refusal',
    story: 'the refusal of a reference that the service knows already is taken for a refusal of the order',
    listed: '9: that the reference exists is read as a refusal, after a proxy repeated the POST',
    breaks: ['I8'],
    seed: 3,
    repeatMode: 'rejected',
    weather: { repeatedOnTheWay: 0.5 },
    plant: {
      deps: withMoneyErrors((error) =>
        error instanceof DuplicateReferenceError || (error instanceof RejectedError && error.isAboutReference)
          ? refusal(error.operation, 'already exists')
          : error,
      ),
    },
  },
];

export const plantNamed = (name: string): PlantedBug => {
  const found = PLANTS.find((planted) => planted.name === name);
  if (found === undefined) throw new Error(`no planted bug "${name}": ${PLANTS.map((one) => one.name).join(', ')}`);
  return found;
};

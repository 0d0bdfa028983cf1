import type { Repeat } from '../../src/protocol/decisions.js';
import type { Rulebook } from '../../workflows/engine/decide.js';
import { PLANS } from '../../workflows/plans.js';
import type { Budget, Setting, WorldPlant } from './world.js';

/** What is explored as a whole: a kind, and how much may go wrong, come in and be ordered. */
export interface Space {
  readonly kind: keyof typeof PLANS;
  readonly faults: number;
  readonly events: number;
  readonly orders: number;
  /** What the service does with a repeated reference. @default unknown */
  readonly repeat?: Repeat;
  /** Results of steps may be overtaken by whatever comes. */
  readonly isSlow?: true;
  /** What is to be paid is paid when that is ordered. */
  readonly isOrderedLater?: true;
  /** The invoice was made elsewhere: the flow only pays it. */
  readonly isExisting?: true;
  /** The service has what the live one has beyond the interface. */
  readonly isLive?: true;
  /** Not from the start: from the nearest state in which this rule decides, or a person is asked for this reason. */
  readonly from?: string;
}

/** One with a lookup and one without: these show what is of every kind. */
const KINDS = ['crypto-send', 'bank-withdrawal'] as const;
/** These send nothing. */
const WATCHES = ['kyc-check', 'mobile-money-watch', 'on-chain-watch'] as const;
/** Each shows what is its own. */
const OTHERS = ['bank-checkout', 'card-deposit', 'onramp', 'offramp', ...WATCHES] as const;

type Bounds = Omit<Space, 'kind'>;
const of = (kind: Space['kind'], ...bounds: readonly Bounds[]): readonly Space[] =>
  bounds.map((one) => ({ kind, ...one }));
const ofEach = (...bounds: readonly Bounds[]): readonly Space[] => KINDS.flatMap((kind) => of(kind, ...bounds));
const ofOthers = (...bounds: readonly Bounds[]): readonly Space[] => OTHERS.flatMap((kind) => of(kind, ...bounds));
const bounds = (faults: number, events: number, orders: number, more: Partial<Bounds> = {}): Bounds => ({
  faults,
  events,
  orders,
  ...more,
});

const LATER = { isOrderedLater: true } as const;
const EXISTING = { isExisting: true } as const;
const LIVE = { isLive: true } as const;
const SLOW = { isSlow: true } as const;
const SETTINGS = (['same-result', 'rejected'] as const satisfies readonly Repeat[]).map((repeat) => ({ repeat }));

/** For `npm test`: about a minute of CPU. */
export const IN_TESTS: readonly Space[] = [
  ...ofEach(bounds(1, 1, 0), bounds(1, 0, 1), bounds(0, 1, 1)),
  ...of('bank-withdrawal', bounds(1, 1, 0, SETTINGS[0]), bounds(1, 0, 1, SETTINGS[1])),
  ...of('crypto-send', bounds(2, 0, 0), bounds(2, 0, 0, SETTINGS[0]), bounds(1, 1, 0, SETTINGS[1])),
  ...of('crypto-send', bounds(0, 1, 0, SLOW)),
  ...ofOthers(bounds(1, 0, 0), bounds(0, 1, 0), bounds(0, 0, 1)),
  ...of('invoice-payment', bounds(1, 0, 0), bounds(0, 1, 0), bounds(0, 0, 1), bounds(0, 0, 1, LATER)),
  ...of('invoice-payment', bounds(1, 0, 0, EXISTING), bounds(0, 1, 0, EXISTING), bounds(0, 0, 1, EXISTING)),
  ...of('bridge-transfer', bounds(1, 0, 0), bounds(0, 0, 1), bounds(0, 0, 1, LATER)),
  ...of('bank-withdrawal', bounds(1, 0, 0, LIVE), bounds(0, 1, 0, LIVE), bounds(0, 0, 1, LIVE)),
  ...of('card-deposit', bounds(1, 0, 0, LIVE), bounds(0, 0, 1, LIVE)),
  ...of('offramp', bounds(0, 0, 1, LIVE)),
  ...of('bridge-transfer', bounds(0, 0, 0, LIVE)),
];

/** `npm run model`: within ten minutes. */
export const WHOLE: readonly Space[] = [
  ...of('bank-withdrawal', bounds(1, 1, 1), bounds(1, 1, 0, SETTINGS[1]), bounds(1, 0, 1, SETTINGS[0])),
  ...of('crypto-send', bounds(1, 1, 0, SETTINGS[0]), bounds(1, 0, 1, SETTINGS[1])),
  ...SETTINGS.flatMap((setting) => ofEach(bounds(2, 0, 0, setting))),
  ...of('bank-withdrawal', bounds(3, 0, 0)),
  ...ofEach(bounds(0, 2, 0), bounds(0, 0, 2)),
  ...of('bank-withdrawal', bounds(1, 1, 0, SLOW), bounds(0, 1, 1, SLOW), bounds(1, 0, 1, SLOW)),
  ...ofEach(bounds(1, 1, 0)),
  ...of('bank-checkout', bounds(1, 1, 0), bounds(1, 0, 1), bounds(0, 1, 1), bounds(2, 0, 0)),
  ...of('card-deposit', bounds(1, 1, 0), bounds(1, 0, 1), bounds(0, 1, 1), bounds(2, 0, 0)),
  ...of('card-deposit', bounds(1, 0, 1, SETTINGS[0])),
  ...of('onramp', bounds(1, 0, 1), bounds(2, 0, 0), bounds(0, 1, 0)),
  ...of('offramp', bounds(1, 0, 1), bounds(2, 0, 0), bounds(0, 1, 0), bounds(0, 0, 2)),
  ...WATCHES.flatMap((kind) => of(kind, bounds(1, 1, 0), bounds(1, 0, 1), bounds(0, 1, 1), bounds(2, 0, 0))),
  ...of('invoice-payment', bounds(2, 0, 0), bounds(0, 1, 1), bounds(0, 0, 1)),
  ...of(
    'invoice-payment',
    bounds(1, 1, 0, LATER),
    bounds(1, 0, 1, LATER),
    bounds(0, 1, 1, LATER),
    bounds(0, 0, 2, LATER),
  ),
  ...of('invoice-payment', bounds(0, 1, 0, EXISTING), bounds(1, 0, 1, { ...EXISTING, from: 'payment_unclear' })),
  ...SETTINGS.flatMap((setting) => [
    ...ofOthers(bounds(1, 0, 0, setting)),
    ...of('invoice-payment', bounds(1, 0, 0, setting)),
    ...of('bridge-transfer', bounds(1, 0, 0, setting)),
  ]),
  ...of('bridge-transfer', bounds(0, 1, 0), bounds(1, 0, 1), bounds(2, 0, 0)),
  ...of('bridge-transfer', bounds(1, 0, 1, LATER), bounds(0, 1, 1, LATER)),
  ...of('bank-withdrawal', bounds(1, 0, 1, LIVE), bounds(0, 1, 1, LIVE)),
  ...of('card-deposit', bounds(1, 0, 1, LIVE)),
  ...of(
    'bridge-transfer',
    bounds(0, 0, 1, LIVE),
    bounds(0, 1, 0, { ...LIVE, from: 'theirs' }),
    bounds(1, 0, 0, { ...LIVE, from: 'failure-unconfirmed' }),
  ),
  ...of('bridge-transfer', bounds(1, 1, 0, { from: 'refund-needed' })),
];

/** `npm run model -- --deep`: hours. */
export const DEEP: readonly Space[] = [
  ...of('crypto-send', bounds(1, 1, 1), bounds(2, 0, 1), bounds(3, 0, 0)),
  ...ofEach(bounds(2, 1, 0), bounds(2, 1, 1), bounds(0, 2, 1), bounds(1, 2, 0), bounds(3, 0, 1), bounds(1, 0, 2)),
  ...of('bank-withdrawal', bounds(2, 0, 1), bounds(1, 1, 0, SETTINGS[0]), bounds(1, 0, 1, SETTINGS[1])),
  ...of('crypto-send', bounds(1, 1, 0, SETTINGS[1]), bounds(1, 0, 1, SETTINGS[0])),
  ...of('crypto-send', bounds(1, 1, 0, SLOW), bounds(0, 1, 1, SLOW), bounds(1, 0, 1, SLOW)),
  ...SETTINGS.flatMap((setting) => ofEach(bounds(1, 1, 1, setting))),
  ...ofEach(bounds(1, 1, 1, SLOW)),
  ...of('card-deposit', bounds(1, 1, 1), bounds(2, 0, 1), bounds(3, 0, 0)),
  ...of('onramp', bounds(1, 1, 0), bounds(0, 1, 1)),
  ...of('offramp', bounds(1, 1, 0), bounds(0, 1, 1)),
  ...WATCHES.flatMap((kind) => of(kind, bounds(2, 1, 1))),
  ...of('invoice-payment', bounds(1, 1, 0), bounds(1, 0, 1)),
  ...of('invoice-payment', bounds(1, 0, 1, EXISTING), bounds(1, 1, 0, EXISTING), bounds(0, 1, 1, EXISTING)),
  ...of('bridge-transfer', bounds(1, 1, 0), bounds(0, 1, 1)),
  ...of('bank-withdrawal', bounds(1, 1, 0, LIVE), bounds(1, 1, 1, LIVE), bounds(2, 1, 0, LIVE)),
  ...of('card-deposit', bounds(1, 1, 0, LIVE), bounds(0, 1, 1, LIVE), bounds(1, 1, 1, LIVE)),
  ...of('offramp', bounds(0, 0, 2, LIVE), bounds(1, 0, 1, LIVE), bounds(0, 1, 1, LIVE)),
  ...of('bridge-transfer', bounds(1, 0, 0, LIVE), bounds(0, 1, 0, LIVE)),
  ...of('bridge-transfer', bounds(1, 1, 0, LIVE), bounds(1, 0, 1, LIVE), bounds(0, 1, 1, LIVE)),
];

/** For the plants: each is looked for in these, the small ones first, until it is found. */
export const FOR_PLANTS: readonly Space[] = [
  ...ofEach(bounds(1, 0, 0), bounds(0, 1, 0), bounds(0, 0, 1), bounds(1, 0, 0, SETTINGS[0])),
  ...ofOthers(bounds(1, 0, 0), bounds(0, 1, 0), bounds(0, 0, 1)),
  ...ofEach(bounds(1, 0, 1), bounds(0, 1, 1), bounds(2, 0, 0)),
  ...of('card-deposit', bounds(1, 0, 1), bounds(2, 0, 1), bounds(1, 0, 1, SETTINGS[0])),
  ...of('offramp', bounds(1, 0, 1), bounds(0, 0, 2)),
  ...of(
    'invoice-payment',
    bounds(1, 0, 0),
    bounds(0, 1, 0),
    bounds(0, 0, 1),
    bounds(0, 0, 2, LATER),
    bounds(0, 1, 1, LATER),
  ),
  ...of('invoice-payment', bounds(1, 1, 0), bounds(1, 0, 1, LATER), bounds(0, 1, 1)),
  ...of('bridge-transfer', bounds(1, 0, 0), bounds(0, 1, 0), bounds(0, 0, 1, LATER), bounds(1, 0, 1), bounds(0, 1, 1)),
  ...of('bank-withdrawal', bounds(1, 1, 0), bounds(1, 1, 0, SETTINGS[0]), bounds(2, 0, 1), bounds(0, 1, 1, SLOW)),
  ...of('crypto-send', bounds(2, 0, 0, SETTINGS[1]), bounds(1, 1, 0), bounds(0, 1, 1, SLOW)),
  ...of('bank-withdrawal', bounds(1, 0, 0, LIVE)),
  ...of('offramp', bounds(0, 0, 1, LIVE), bounds(1, 0, 1, LIVE)),
  ...of('bridge-transfer', bounds(0, 0, 0, LIVE), bounds(0, 1, 0, LIVE)),
  ...of('bank-withdrawal', bounds(1, 1, 1)),
  ...of('crypto-send', bounds(2, 0, 1)),
];

export function nameOf(space: Space): string {
  const { kind, faults, events, orders, repeat, isSlow, isOrderedLater, isExisting, isLive, from } = space;
  return [
    kind,
    `${faults}/${events}/${orders}`,
    ...(repeat === undefined ? [] : [repeat]),
    ...(isSlow === true ? ['slow'] : []),
    ...(isOrderedLater === true ? ['later'] : []),
    ...(isExisting === true ? ['existing'] : []),
    ...(isLive === true ? ['live'] : []),
    ...(from === undefined ? [] : ['from', from]),
  ].join(' ');
}

export const budgetOf = ({ faults, events, orders }: Space): Budget => ({ faults, events, orders });

export function settingOf(
  { kind, repeat = 'unknown', isSlow, isOrderedLater, isExisting, isLive, from }: Space,
  book: Rulebook = {},
  worldPlant?: WorldPlant,
): Setting {
  const plant = worldPlant === undefined ? {} : { worldPlant };
  const how = {
    isSlow: isSlow === true,
    isOrderedLater: isOrderedLater === true,
    isExisting: isExisting === true,
    isLive: isLive === true,
  };
  return {
    plan: PLANS[kind],
    repeat,
    ...how,
    ...(from === undefined ? {} : { from }),
    book,
    decided: new Set(),
    pairs: new Set(),
    views: new WeakMap(),
    ...plant,
  };
}

import type { FlowPreparation } from '../../activities/types.js';
import { begun as begunAttempt, type Attempt, type Terms } from '../../src/protocol/attempt.js';
import { claimSays } from '../../src/protocol/claim-says.js';
import {
  after,
  NO_CLAIM,
  sentOf,
  stateOf,
  type By,
  type ClaimFacts,
  type Operation,
} from '../../src/protocol/claim-table.js';
import { LIVE_OPERATIONS } from '../../src/protocol/live-operations.js';
import type { Repeat } from '../../src/protocol/decisions.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { classifyStatus, type Meaning } from '../../src/protocol/statuses.js';
import type { Decision, Rulebook } from '../../workflows/engine/decide.js';
import {
  newKnown,
  type ClaimReading,
  type Input,
  type Known,
  type Result,
  type Step,
} from '../../workflows/engine/known.js';
import { learn } from '../../workflows/engine/learn.js';
import type { End, Plan, RequestPlan, View } from '../../workflows/engine/plan.js';
import { settle } from '../../workflows/engine/settle.js';
import { view } from '../../workflows/engine/view.js';
import { preparedTransfer } from './bridge.js';
import { lifeOf } from './lives.js';
import { shapesOf } from './shape.js';

/** One flow, and everything around it that can go right and wrong. */
export interface World {
  readonly nowMs: number;
  readonly known: Known;
  readonly decision: Decision;
  readonly end: End | null;
  /** The request that is looked at, and its POST. */
  readonly at: string;
  readonly post: Post;
  /** Those of the flow's other requests. */
  readonly besides: Readonly<Record<string, Post>>;
  /** The attempt to send that is under way. */
  readonly attempt: Attempt | null;
  readonly inbox: readonly FlowEvent[];
  /** How many of the inbox have reached the flow by signal. */
  readonly delivered: number;
  /** How many of the inbox there were when the flow's last reading of it was made. */
  readonly read: number;
  /** Done, and not reported yet. */
  readonly slow: readonly { readonly step: Step; readonly result: Result }[];
  readonly left: Budget;
  /** Set by a move after which something is as it must never be. */
  readonly wrong: string | null;
}

/** How much may go wrong, come in and be ordered yet. */
export interface Budget {
  readonly faults: number;
  readonly events: number;
  readonly orders: number;
}

/** One POST: its claim at the store, and what the service has under its reference. */
export interface Post {
  readonly claim: ClaimFacts;
  readonly record: ServiceRecord | null;
  readonly executions: number;
  /** How many POSTs have left, as far as our side knows. */
  readonly sends: number;
  /** Further sends that a person ordered, or that the setting allows. */
  readonly moreSends: number;
  /** On their way: each may be executed until that moment, ms. */
  readonly flights: readonly number[];
  /** A worker that the flow no longer waits for, and that has not reserved yet: what its flow had judged. */
  readonly zombie: readonly string[] | null;
}

export interface ServiceRecord {
  readonly ours: boolean;
  readonly word: string;
  /** It has failed before. */
  readonly wasFailed: boolean;
  /** Somebody else has done it: `unseen` until the flow can have looked. */
  readonly byOthers?: 'unseen' | 'seen';
}

/** Ways in which the world itself is wrong, to see whether the model notices. */
export const WORLD_PLANTS = {
  'void-unguarded': 'The transaction that voids the claims does not look at the inbox.',
  'void-anything': 'It voids a claim in `sending`, too.',
  'mark-unguarded': 'A claim is marked although a trusted event is in the inbox.',
  'one-miss': 'One lookup that shows nothing makes a refusal final.',
  unfenced: 'A forgotten worker marks a claim that is void.',
} as const;
export type WorldPlant = keyof typeof WORLD_PLANTS;

export interface Setting {
  readonly plan: Plan;
  /** What the setting says that the service does with a repeated reference, and what it does. */
  readonly repeat: Repeat;
  readonly book: Rulebook;
  /** Results may be overtaken by whatever comes. */
  readonly isSlow: boolean;
  /** What is to be paid is paid when that is ordered. */
  readonly isOrderedLater: boolean;
  /** What the first request would make is there from the start, and the flow has only the others. */
  readonly isExisting: boolean;
  /** The service has what the live one has beyond the interface, and the run may use it. */
  readonly isLive: boolean;
  readonly worldPlant?: WorldPlant;
  /** Not from the start: from the nearest state in which this rule decides, or a person is asked for this reason. */
  readonly from?: string;
  /** Names of rules that have decided somewhere. */
  readonly decided: Set<string>;
  readonly views: WeakMap<Known, View>;
  /** Shapes of the steps and results that the world has handed to the flow. */
  readonly pairs: Set<string>;
}

export interface Move {
  readonly says: string;
  /** Part of a world without faults, new events and persons. */
  readonly isCalm: boolean;
  readonly to: () => World;
}

export const SETTLE_MS = 90_000;
export const OURS = { amount: '100' };
export const THEIRS = { amount: '200' };
const DEADLINE_MS = 3_600_000;

const NO_POST: Post = {
  claim: NO_CLAIM,
  record: null,
  executions: 0,
  sends: 0,
  moreSends: 0,
  flights: [],
  zombie: null,
};

export function begin(setting: Setting, left: Budget): World {
  const known = newKnownOf(setting, 0);
  const [first, ...others] = setting.plan.requests.map(({ name }) => name);
  const at = first ?? '';
  const isThere = isElsewhere(setting) || setting.isExisting;
  const record = isThere ? { ours: true, word: lifeOf(setting.plan, at).begins, wasFailed: false } : null;
  const empty = {
    nowMs: 0,
    known,
    end: null,
    at,
    post: { ...NO_POST, record },
    besides: Object.fromEntries(others.map((name) => [name, NO_POST])),
    attempt: null,
    inbox: [],
    delivered: 0,
    read: 0,
    slow: [],
    left,
    wrong: null,
  };
  return settled(setting, empty);
}

export function newKnownOf({ plan }: Setting, nowMs: number): Known {
  const times = {
    timeScale: 1,
    patienceMs: 120_000,
    settleMs: SETTLE_MS,
    graceMs: plan.graceMs,
    deadlineMs: DEADLINE_MS,
  };
  return newKnown(
    plan.requests.map(({ name }) => name),
    times,
    nowMs,
  );
}

export function requestPlanOf({ plan }: Setting, { at }: Pick<World, 'at'>): RequestPlan {
  const request = plan.requests.find(({ name }) => name === at);
  if (request === undefined) throw new TypeError(`a plan without the request "${at}"`);
  return request;
}

/** The same world, with another request looked at. */
export function lookingAt(name: string, w: World): World {
  if (w.at === name) return w;
  const { [name]: post = NO_POST, ...others } = w.besides;
  return { ...w, at: name, post, besides: { ...others, [w.at]: w.post } };
}

/** The one that the flow is about now. */
export const lookingAtCurrent = (setting: Setting, w: World): World =>
  setting.plan.requests.length === 1 ? w : lookingAt(viewIn(setting, w).requestPlan.name, w);

/** What follows from what the flow knows; worked out once for each state. */
export function viewIn({ plan, views }: Setting, { known, nowMs }: Pick<World, 'known' | 'nowMs'>): View {
  const cached = views.get(known);
  if (cached?.nowMs === nowMs) return cached;
  const v = view(known, plan, nowMs);
  views.set(known, v);
  return v;
}

/** Its claim, whichever request is looked at. */
export const postOf = (w: World, name: string): Post => (w.at === name ? w.post : (w.besides[name] ?? NO_POST));

/** It was made elsewhere, and is only followed. */
export const isElsewhere = ({ plan }: Setting): boolean => plan.requests[0]?.watching !== undefined;

/** What a word of the service means. */
export const meaningIn = ({ plan: { words } }: Setting, word: string | null): Meaning =>
  classifyStatus(words, word === 'FAILED_EARLY' ? 'FAILED' : word);

export const isBridge = ({ plan }: Setting): boolean => plan.kind === 'bridge-transfer';

/** The loop of the flow, and what its effects do to the world. */
export function settled(setting: Setting, begun: Omit<World, 'decision'>): World {
  const { known, decision, effects, decided } = settle(begun.known, setting.plan, begun.nowMs, setting.book);
  const sending =
    effects.find(({ step }) => step.do === 'send')?.step ?? known.running.find((step) => step.do === 'send');
  const world = sending === undefined ? begun : lookingAt(sending.request, begun as World);
  for (const name of decided) setting.decided.add(name);
  let { attempt, post, slow } = world;
  for (const { do: what, step } of effects) {
    if (what === 'give-up') slow = slow.filter((one) => one.step.id !== step.id);
    if (step.do !== 'send') continue;
    if (what === 'begin') attempt = begunAttempt(termsOf(setting, step));
    else {
      post = abandoned({ ...world, post, attempt }, step);
      attempt = null;
    }
  }
  if (decision.end === null) return { ...world, known, decision, attempt, post, slow };
  const send = known.running.find((step) => step.do === 'send');
  const left = send === undefined ? post : abandoned({ ...world, post, attempt }, send);
  return { ...world, known, decision, end: decision.end, attempt: null, post: left, slow: [] };
}

export function hear(setting: Setting, world: World, input: Input): World {
  if (input.is === 'result')
    for (const shape of shapesOf(setting.plan, world.known, input.step, input.result)) setting.pairs.add(shape);
  return settled(setting, { ...world, known: learn(world.known, input, world.nowMs) });
}

/** The flow, or Temporal, does not wait for this attempt any more: its worker may go on. */
export function abandoned({ attempt, post, nowMs }: Pick<World, 'attempt' | 'post' | 'nowMs'>, step: Step): Post {
  if (attempt === null) return post;
  if (attempt.does === 'reserve') return { ...post, zombie: step.reviewed ?? [] };
  if (attempt.does !== 'post') return post;
  // It leaves, and is executed, within the window that its mark begins (activities/timing.ts).
  const untilMs = (post.claim.sentAtMs ?? nowMs) + SETTLE_MS;
  return untilMs > nowMs ? { ...post, flights: [...post.flights, untilMs] } : post;
}

export function termsOf(setting: Setting, step: Step): Terms {
  return {
    lookUp: isLookup(setting, { at: step.request }),
    byOthersToo: requestPlanOf(setting, { at: step.request }).byOthersToo === true,
    skipLookup: step.unasked === true,
    takesDebt: false,
    sendable: true,
    guardsUntrusted: step.debt?.by === 'input',
  };
}

export function store(world: World, operation: Operation, by: Partial<By> = {}): World {
  const claim = after(world.post.claim, operation, { nowMs: world.nowMs, owner: OWNER, ...by });
  return claim === world.post.claim ? world : { ...world, post: { ...world.post, claim } };
}

/** The attempt that the flow waits for, and one that it does not wait for any more. */
export const OWNER = 'attempt';
export const ZOMBIE = 'zombie';

/** As the activities report a claim. */
export const claimReading = (claim: ClaimFacts): ClaimReading => ({
  claim: claimSays(stateOf(claim)),
  sent: sentOf(claim),
});

/** What is to be ordered later is known all the same if an earlier run has sent it. */
export function prepared(setting: Setting, w: World): FlowPreparation {
  const live = setting.isLive ? { live: LIVE_OPERATIONS } : {};
  if (isBridge(setting)) return preparedTransfer(setting.isOrderedLater, live);
  const isKnown = ({ name, byOthersToo, movesNothing }: RequestPlan): boolean =>
    !(setting.isExisting && movesNothing === true) &&
    (!setting.isOrderedLater || byOthersToo !== true || sentOf(postOf(w, name).claim) !== 'nothing');
  const names = isElsewhere(setting) ? [] : setting.plan.requests.filter(isKnown).map(({ name }) => name);
  return {
    pin: live,
    windows: { settleMs: SETTLE_MS },
    steps: Object.fromEntries(names.map((name) => [name, { facts: OURS, claim: { fingerprint: 'ours' } }])),
    input: { chain: 'LIGHTNING', token: 'BTC', cryptoAmount: '1', ...paymentIn(setting) },
  } as unknown as FlowPreparation;
}

function paymentIn({ isOrderedLater, isExisting }: Setting) {
  if (isExisting) return { pay: 'existing' };
  return { pay: 'generated', payment: isOrderedLater ? undefined : {} };
}

/** A trusted event in the inbox that the step's flow had not judged. */
export const hasUnjudged = ({ inbox }: World, reviewed: readonly string[] = [], isTrusted = true): boolean =>
  inbox.some(({ id, trusted }) => (trusted || !isTrusted) && !reviewed.includes(id));

export function isLookup(setting: Setting, w: Pick<World, 'at'>): boolean {
  const { lookUp } = requestPlanOf(setting, w);
  return lookUp === 'own' || (lookUp === 'live' && setting.isLive);
}

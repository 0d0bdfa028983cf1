import type { ParkAction, ParkReason } from '../../src/protocol/vocabulary.js';
import { PARK_ACTIONS } from '../../src/protocol/vocabulary.js';
import { isTrusted } from './events.js';
import type { Input, Known, Question, Step } from './known.js';
import { isSameDoubt, lastReplies, orderRuleFor } from './orders.js';
import type { End, Plan, Situation, View } from './plan.js';
import { ruleFor } from './rules.js';
import { view, type Planted } from './view.js';

export interface Decision {
  /** Names of the rules that decided, for tests and logs. */
  readonly rule: string;
  readonly orderRule: string | null;
  readonly steps: readonly Step[];
  /** What is reported: it becomes known before anything is begun. */
  readonly says: readonly Input[];
  readonly wakeAtMs: number | null;
  readonly end: End | null;
}

/** For the model: rules that are taken out, and conditions that always say the same. */
export interface Rulebook {
  readonly without?: string;
  readonly planted?: Planted;
}

/** All that should be so now. Pure and total; deciding twice gives the same. */
export function decide(known: Known, plan: Plan, nowMs: number, { without, planted }: Rulebook = {}): Decision {
  const v = view(known, plan, nowMs, planted);
  const rule = ruleFor(v, without);
  const situation: Situation = rule?.follows(v) ?? { steps: [] };
  const { wakeAtMs } = situation;
  const decision: Omit<Decision, 'steps' | 'says' | 'end'> = {
    rule: rule?.name ?? '',
    orderRule: null,
    wakeAtMs: wakeAtMs !== undefined && wakeAtMs > nowMs ? wakeAtMs : null,
  };
  if (situation.end !== undefined) {
    return { ...decision, steps: [], says: lastReplies(known, situation.end), end: situation.end };
  }
  const question = questionOf(v, situation);
  if (question !== undefined)
    return { ...decision, steps: situation.steps, says: [{ is: 'shown', question }], end: null };
  if (v.order === undefined) return { ...decision, steps: situation.steps, says: [], end: null };
  const ordered = { v, situation, order: v.order };
  const orderRule = orderRuleFor(ordered, without);
  const reply = orderRule?.follows(ordered) ?? {};
  return {
    ...decision,
    orderRule: orderRule?.name ?? '',
    steps: merged(reply.instead ?? situation.steps, reply.steps ?? []),
    says: reply.says === undefined ? [] : [reply.says],
    end: null,
  };
}

const merged = (some: readonly Step[], more: readonly Step[]): readonly Step[] => [
  ...some,
  ...more.filter(({ id }) => !some.some((one) => one.id === id)),
];

/** What is to be shown; undefined: what is shown is right. */
function questionOf(v: View, { park, about, isCheck }: Situation): Omit<Question, 'sinceMs'> | null | undefined {
  const { parked } = v.known;
  if (park === undefined) return parked === null || isCheck === true ? undefined : null;
  const request = v.requestPlan.name;
  const actions = PARK_ACTIONS[park].filter((action) => !impossible(v, park).includes(action));
  const isSame =
    parked !== null && park === parked.reason && (about ?? null) === parked.about && request === parked.request;
  // A person decides a conflict between the endings that are shown.
  const isAsShown = park !== 'conflict' || v.endings.join(' ') === parked?.endings.join(' ');
  if (isSame && (v.order !== undefined || (isAsShown && actions.join(' ') === parked.actions.join(' '))))
    return undefined;
  // The order answers what was shown.
  if (v.order !== undefined && isSameDoubt(parked?.reason, park)) return undefined;
  return {
    reason: park,
    request,
    about: about ?? null,
    actions,
    endings: v.endings,
    cannotTell: v.post.lookup === 'cannot-tell',
  };
}

function impossible(v: View, park: ParkReason): readonly ParkAction[] {
  const { request, requestPlan, known, plan } = v;
  const cannotBeSent = known.input === 'invalid' || requestPlan.byGateway === true;
  return [
    // What a trusted event holds back is not sent, whoever orders it; nor what cannot be sent.
    ...((request.answer === 'held-back' && known.events.some(isTrusted)) || cannotBeSent
      ? (['send-again'] as const)
      : []),
    ...(plan.impossible?.(v, park) ?? []),
    // The service's record under the reference of a payment is not its money; under that of a refund it may be.
    ...(park === 'duplicate_mismatch' && requestPlan.debtOf === undefined ? (['mark-refunded'] as const) : []),
  ];
}

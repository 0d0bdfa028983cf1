import type { FlowEvent } from '../../src/protocol/messages.js';
import { UNREADABLE } from '../../src/protocol/messages.js';
import type { Meaning } from '../../src/protocol/statuses.js';
import type { Action, NewOrder, Step } from '../../workflows/engine/known.js';
import { learn } from '../../workflows/engine/learn.js';
import { requestOf } from '../../workflows/engine/view.js';
import { eventOf as eventOfBridge } from './bridge.js';
import { executed, isOfCopy, less, type Here } from './here.js';
import { lifeOf } from './lives.js';
import { attemptMoves } from './send-moves.js';
import { checked, stepMoves } from './step-moves.js';
import {
  abandoned,
  begin,
  lookingAt,
  lookingAtCurrent,
  OURS,
  postOf,
  hear,
  newKnownOf,
  requestPlanOf,
  settled,
  store,
  THEIRS,
  isBridge,
  isElsewhere,
  meaningIn,
  ZOMBIE,
  hasUnjudged,
  SETTLE_MS,
  type Move,
  type Setting,
  type World,
} from './world.js';

/** Everything that can happen next, in a fixed order. */
export function moves(setting: Setting, world: World): readonly Move[] {
  if (world.end !== null) return afterTheEnd(setting, world);
  const list: Move[] = [];
  const names = setting.plan.requests.map(({ name }) => name);
  const w = lookingAtCurrent(setting, world);
  const hereAt = (name: string): Here => hereOf(setting, lookingAt(name, world), list);
  const here = hereAt(w.at);
  // Before its check a flow looks at its first request, also if it has only the others.
  const ofFlow = setting.isExisting ? (names.at(-1) ?? '') : w.at;
  for (const { step, result } of w.slow) {
    here.calm(`the result of "${step.do}" reaches the flow`, () =>
      hear(setting, { ...w, slow: w.slow.filter((one) => one.step !== step) }, { is: 'result', step, result }),
    );
  }
  for (const step of w.known.running) {
    if (w.slow.some((one) => one.step.id === step.id)) continue;
    const at = step.only ?? (step.request === '' ? ofFlow : step.request);
    if (step.do === 'send') attemptMoves(hereAt(at), step);
    else stepMoves(hereAt(at), step);
  }
  for (const name of names) serviceMoves(hereAt(name));
  eventMoves(hereAt((isBridge(setting) ? names[0] : names.at(-1)) ?? ''), list);
  personMoves(here);
  timeMoves(here);
  here.fault('the flow is terminated, and started again under its id', () =>
    settled(setting, {
      ...leftBehind(w),
      attempt: null,
      slow: [],
      known: newKnownOf(setting, w.nowMs),
      read: 0,
    }),
  );
  if (w.known.prepared !== null && names.some((name) => postOf(w, name).claim.phase !== 'absent'))
    here.fault('the flow is reset to the moment after its first check', () => resetIn(setting, w));
  return list;
}

/** Its run begins again with what it knew before anything was reserved; Temporal hands it its signals once more. */
function resetIn(setting: Setting, w: World): World {
  const untouched = begin(setting, w.left);
  const step: Step = { id: 'check', do: 'check', request: '', turn: 0, beganAtMs: 0 };
  const known = learn(newKnownOf(setting, 0), { is: 'result', step, result: checked(setting, untouched) }, 0);
  return settled(setting, { ...leftBehind(w), attempt: null, slow: [], known, delivered: 0, read: 0 });
}

function hereOf(setting: Setting, w: World, list: Move[]): Here {
  return {
    setting,
    w,
    request: requestOf(w.known, w.at),
    calm: (says, to) => void list.push({ says, isCalm: true, to }),
    can: (says, to) => void list.push({ says, isCalm: false, to }),
    fault: (says, to) => {
      if (w.left.faults > 0) list.push({ says, isCalm: false, to: () => less(to(), 'faults') });
    },
    finish: (step, result, next) => {
      const isAtOnce =
        !setting.isSlow || step.do === 'send' || step.do === 'ask' || step.do === 'follow' || step.do === 'check';
      if (isAtOnce) return hear(setting, next, { is: 'result', step, result });
      return { ...next, slow: [...w.slow, { step, result }] };
    },
  };
}

/** Of a send that Temporal forgets. */
export function leftBehind(w: World): World {
  const send = w.known.running.find((step) => step.do === 'send');
  if (send === undefined) return w;
  const sending = lookingAt(send.request, w);
  return { ...sending, post: abandoned(sending, send) };
}

/** What is on its way arrives after the end, too: nothing of it may contradict the end. */
function afterTheEnd(setting: Setting, w: World): readonly Move[] {
  const list: Move[] = [];
  for (const { name } of setting.plan.requests)
    lateMoves(setting, lookingAt(name, w), (says, to) => void list.push({ says, isCalm: false, to }));
  return list;
}

type Add = (says: string, to: () => World) => void;

function lateMoves(setting: Setting, w: World, can: Add): void {
  const { post, nowMs } = w;
  post.flights.forEach((_, index) => can('the late POST is executed', () => late(setting, w, index)));
  if (post.zombie === null) return;
  const { claim } = post;
  const isOpen = claim.phase === 'absent' || (claim.phase === 'reserved' && !claim.ordered);
  const isForced = setting.worldPlant === 'unfenced' && claim.phase === 'void';
  const isGuarded = setting.worldPlant !== 'mark-unguarded' && hasUnjudged(w, post.zombie);
  if ((!isOpen && !isForced) || isGuarded) return;
  can('a forgotten worker wakes up, marks the claim, and sends', () => {
    const reserved = store(w, 'reserve', { owner: ZOMBIE });
    const marked = store(reserved, 'mark', { owner: ZOMBIE });
    const flights = [...post.flights, nowMs + SETTLE_MS];
    return { ...marked, post: { ...marked.post, zombie: null, flights, sends: marked.post.sends + 1 } };
  });
}

const late = (setting: Setting, w: World, index: number): World => ({
  ...w,
  post: { ...executed(setting, w).post, flights: w.post.flights.filter((_, other) => other !== index) },
});

function serviceMoves({ setting, w, calm, can, fault }: Here): void {
  lateMoves(setting, w, can);
  const { record, claim } = w.post;
  if (claim.phase === 'sending' && record === null && w.post.flights.length > 0)
    fault('the late POST is executed, and a forgotten worker writes its answer', () =>
      store(late(setting, w, 0), 'answer'),
    );
  if (record === null) {
    const { byOthersToo } = requestPlanOf(setting, w);
    const isPayable =
      byOthersToo === true && setting.plan.requests.some(({ name }) => postOf(w, name).record?.ours === true);
    if (isPayable && w.left.events > 0)
      can('others pay it', () =>
        less({ ...w, post: { ...w.post, record: { ...PAID_BY_OTHERS, wasFailed: false } } }, 'events'),
      );
    if (byOthersToo === true) return;
    return fault('the service has something else under the reference', () => ({
      ...w,
      post: { ...w.post, record: { ours: false, word: lifeOf(setting.plan, w.at).begins, wasFailed: false } },
    }));
  }
  if (!record.ours) return;
  const { begins, becomes } = lifeOf(setting.plan, w.at);
  const hasFailed = FAILURES.includes(meaningIn(setting, record.word));
  const become = (word: string) => () => ({
    ...w,
    post: { ...w.post, record: { ...record, word, wasFailed: record.wasFailed || hasFailed } },
  });
  // What was declined is the second copy: the first one goes on.
  const isOfTheCopy = record.word.endsWith('DECLINED') && isOfCopy(w.post);
  const next = (becomes[isOfTheCopy ? begins : record.word] ?? []).filter(([, word]) => word !== record.word);
  const add = { calm, can, fault };
  for (const [as, word] of next) add[as](`the service: ${word}`, become(word));
}

const PAID_BY_OTHERS = { ours: true, word: 'PROCESSING', byOthers: 'unseen' } as const;

const FAILURES: readonly Meaning[] = ['failed', 'refund-pending', 'funds-held'];

function eventMoves({ setting, w, calm }: Here, list: Move[]): void {
  const { record } = w.post;
  const post = (trusted: boolean, word: string | null, facts: FlowEvent['facts'], suffix = ''): void => {
    const id = `${trusted ? 'trusted' : 'untrusted'} ${word ?? ''}${suffix}`;
    if (w.left.events === 0 || w.inbox.some((one) => one.id === id)) return;
    const said = isBridge(setting) && word !== null ? eventOfBridge(word) : { status: word, facts: {} };
    const event: FlowEvent = {
      id,
      source: suffix === ', by the provider' ? 'settlement' : 'callback',
      trusted,
      proof: trusted ? 'signature' : null,
      status: said.status,
      receivedAt: '',
      facts: { ...said.facts, ...facts },
    };
    list.push({
      says: `an event comes in: ${id}`,
      isCalm: false,
      to: () => less({ ...w, inbox: [...w.inbox, event] }, 'events'),
    });
  };
  const { success, failure, besides } = lifeOf(setting.plan, w.at);
  if (record?.ours === true) post(true, record.word, {});
  const more = record?.ours === true ? besides?.[record.word] : undefined;
  if (more !== undefined) post(true, more, {});
  if (record?.ours === true && isBridge(setting)) post(true, record.word, {}, ', by the provider');
  // Of what was made elsewhere the flow knows nothing that could differ.
  if (!isElsewhere(setting)) {
    const theirs = isBridge(setting) ? { settlementAmount: '9' } : THEIRS;
    post(true, success, theirs, ', of another amount');
    post(true, failure, theirs, ', of another amount');
  }
  post(false, success, {});
  post(false, failure, {});
  post(false, null, { body: UNREADABLE }, 'and unreadable');
  const next = w.inbox[w.delivered];
  if (next !== undefined) {
    calm(`the event reaches the flow: ${next.id}`, () =>
      hear(setting, { ...w, delivered: w.delivered + 1 }, { is: 'event', event: next }),
    );
  }
}

/** Orders that are tried whether or not they are legal. */
const ALWAYS: readonly Action[] = ['cancel', 'send-again', 'mark-failed'];

function personMoves({ setting, w, can }: Here): void {
  if (w.left.orders === 0) return;
  const { known } = w;
  const legal: readonly Action[] = known.parked?.actions ?? [];
  const besides: readonly Action[] = [
    ...(setting.plan.whyNoInvoice === undefined ? [] : (['refund-invoice'] as const)),
    ...(setting.plan.whyNoApproval !== undefined && setting.isOrderedLater ? (['approve-quote'] as const) : []),
    ...(setting.plan.takesPay === true && known.prepared !== null ? (['pay'] as const) : []),
  ];
  for (const action of new Set<Action>([...ALWAYS, ...besides, ...legal])) {
    const order: NewOrder = {
      id: `order ${known.orders.length + 1}${w.left.orders}`,
      action,
      actor: 'a person',
      note: 'seen',
      eventId: eventOf(w, action),
      invoice: action === 'refund-invoice' ? 'an invoice' : null,
      described: action === 'pay' ? describedIn(w) : null,
      untilMs: null,
      parkedSinceMs: known.parked?.sinceMs ?? null,
    };
    can(`a person orders: ${action}`, () => less(hear(setting, w, { is: 'order', order }), 'orders'));
  }
}

/** The first order is ours; one after it is another. */
function describedIn({ known }: World): NewOrder['described'] {
  const fingerprint = known.prepared?.steps['pay'] === undefined ? 'ours' : 'another';
  return { facts: OURS, claim: { fingerprint }, input: { payment: {} } } as unknown as NewOrder['described'];
}

function eventOf({ known }: World, action: Action): string | null {
  if (action === 'trust-settlement') return known.events.findLast(({ event }) => !event.trusted)?.event.id ?? null;
  return action.endsWith('-event') ? (known.parked?.about ?? null) : null;
}

/** Time stops at each moment that means something, to the flow or to the world. */
function timeMoves({ setting, w, calm, can }: Here): void {
  const all = Object.values(w.known.requests);
  const open = all.flatMap((one) => [one.underWayUntilMs, one.askUntilMs]).filter((ms) => ms > w.nowMs);
  const openUntilMs = Math.min(...open, Number.POSITIVE_INFINITY);
  const isBusy = w.known.running.length > 0;
  const nextMs = Math.min(
    w.decision.wakeAtMs ?? Number.POSITIVE_INFINITY,
    isBusy ? openUntilMs : Number.POSITIVE_INFINITY,
  );
  const at = (ms: number) => () =>
    settled(setting, {
      ...w,
      nowMs: ms,
      post: later(w, w.post, ms),
      besides: Object.fromEntries(Object.entries(w.besides).map(([name, post]) => [name, later(w, post, ms)])),
    });
  if (nextMs > w.nowMs && nextMs < Number.POSITIVE_INFINITY) calm('time passes', at(nextMs));
  else if (openUntilMs < Number.POSITIVE_INFINITY && w.known.parked !== null)
    can('a person takes a while', at(openUntilMs));
}

/** What others have done a while ago the flow can have seen. */
function later({ known }: World, post: World['post'], nowMs: number): World['post'] {
  const { record } = post;
  // Before its check it does not know what to ask for.
  const isBlind =
    known.prepared === null || known.running.some(({ do: what }) => what === 'void' || what === 'read-inbox');
  const seen = record?.byOthers === 'unseen' && !isBlind ? { record: { ...record, byOthers: 'seen' as const } } : {};
  return { ...post, ...seen, flights: post.flights.filter((untilMs) => untilMs > nowMs) };
}

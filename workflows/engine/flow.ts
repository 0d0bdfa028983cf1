import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  currentUpdateInfo,
  setCurrentDetails,
  setHandler,
  sleep,
  upsertMemo,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import { defaultDeadlineSeconds, UPDATES } from '../../src/protocol/vocabulary.js';
import type { FlowReport, Outcome } from '../../src/api/flow.js';
import type { PersonOrder, ResolveOrder, SubmitAnswer } from '../../src/protocol/messages.js';
import { isPlaintext, requireKnownKey } from '../../src/protocol/plaintext-marker.js';
import { isFinal } from '../../src/protocol/statuses.js';
import { untilProblem } from '../../src/protocol/until.js';
import { readTime } from '../../src/readers/time.js';
import { handedOn } from './activities.js';
import { admit } from './admit.js';
import { eventsOf, validateEventChoice } from './events-in.js';
import {
  answerUpdate,
  approveQuoteUpdate,
  cancelUpdate,
  eventsSignal,
  flowQuery,
  payUpdate,
  provideRefundInvoiceUpdate,
  resolveUpdate,
} from './messages.js';
import { checkOrder, onUpdate, orderRefused } from './updates.js';
import { MAX_SIGNALS_PER_RUN, MAX_UPDATES_PER_RUN, PAY_ORDER_PATIENCE_MS, SETTLE_PATIENCE_MS } from './policies.js';
import { numberIn } from './input.js';
import { reportChanges, type ReportsCarried } from './report-changes.js';
import { close } from './close.js';
import { markAs } from './search-attributes.js';
import { currentDetails } from './timeline.js';
import { AT_LEAST_MS } from './waits.js';
import type { Decision } from './decide.js';
import { newKnown, type Action, type Known, type NewOrder } from './known.js';
import { createLoop, type Loop } from './loop.js';
import { createNotices } from './notices.js';
import { mayCancel, mayOrder } from './orders.js';
import { describePay } from './pay-order.js';
import { perform } from './perform.js';
import type { Plan } from './plan.js';
import { answerOf, flowView, outcomeOf, reportOf, type Frame } from './report.js';
import { add, DECIDED_MEANWHILE, isByOrder, newTold, seeing, tell, type Told } from './told.js';
import { view } from './view.js';

/** What travels through continue-as-new. */
export interface Carried {
  readonly startedAt: string;
  readonly known: Known;
  readonly told: Told;
  readonly droppedPlaintext: number;
  readonly reports?: ReportsCarried;
}

/** The workflow of a kind: its plan, run by the one loop. */
export const workflowOf =
  (plan: Plan) =>
  (rawInput: unknown, carried?: Carried): Promise<FlowReport> =>
    runFlow(plan, rawInput, handedOn(carried));

async function runFlow(plan: Plan, rawInput: unknown, carried: Carried | undefined): Promise<FlowReport> {
  requireKnownKey(rawInput);
  const flowId = workflowInfo().workflowId;
  const reference = flowId.startsWith(`${plan.kind}/`) ? flowId.slice(plan.kind.length + 1) : flowId;
  const timeScale = numberIn(rawInput, 'timeScale', 0, 1) ?? 1;
  const frame: Frame = { flowId, reference, startedAt: carried?.startedAt ?? new Date().toISOString() };
  const notices = createNotices(flowId, timeScale);
  const scopes = new Map<string, CancellationScope>();
  const seeAt = seeing(plan);
  let told = carried?.told ?? newTold(Date.now());
  let outcome: Outcome | null = null;
  let continuesAsNew = false;
  let answered: { readonly by: readonly unknown[]; readonly answer: SubmitAnswer | null } | null = null;
  let signals = 0;
  let heldPlaintext: readonly unknown[] = [];
  let droppedPlaintext = carried?.droppedPlaintext ?? 0;

  const known = (): Known => loop.known();
  const report = (): FlowReport => reportOf(plan, frame, known(), told, outcome, Date.now());
  const shown = () => flowView(plan, frame, known(), told, outcome, Date.now());
  const showDetails = (): void => setCurrentDetails(currentDetails(shown()));
  const say = (next: Told): void => {
    const isLonger = next.timeline !== told.timeline;
    told = next;
    if (isLonger) showDetails();
  };

  const loop: Loop = createLoop(plan, carried?.known ?? newKnownOf(plan, rawInput, timeScale), {
    nowMs: () => Date.now(),
    perform: (step, now) => {
      const scope = new CancellationScope();
      scopes.set(step.id, scope);
      return scope.run(() => perform({ flowId, plan, timeScale, rawInput }, step, now));
    },
    giveUp: ({ id }) => scopes.get(id)?.cancel(),
    sleepUntil: (atMs, decision) =>
      // A cancel in the UI must not end it. Bounded by itself.
      CancellationScope.nonCancellable(() => sleep(Math.max(1, atMs - Date.now()), { summary: summaryOf(decision) })),
    // Bounded by the loop, which names the moment.
    until: (isReady) => condition(isReady),
    isLong: () =>
      signals >= MAX_SIGNALS_PER_RUN || handled.updates >= MAX_UPDATES_PER_RUN || workflowInfo().continueAsNewSuggested,
    onLearnt: (before, input, after) => {
      say(tell(told, plan, before, input, after, seeAt(Date.now())));
      if (before.prepared !== after.prepared) onPrepared(after);
      if (before.parked !== after.parked) {
        notices.show(after.parked);
        showDetails();
      }
    },
  });

  function onPrepared({ prepared }: Known): void {
    if (prepared !== null && workflowInfo().memo?.['fingerprint'] === undefined)
      upsertMemo({ fingerprint: prepared.fingerprint });
    const held = heldPlaintext;
    heldPlaintext = [];
    held.forEach(takeSignal);
  }

  function takeSignal(argument: unknown): void {
    // Without its key the task fails, and waits for a worker that has it. Dropping the signal would lose events.
    requireKnownKey(argument);
    const take = (events: unknown): void => eventsOf(events).forEach((event) => loop.take({ is: 'event', event }));
    if (!isPlaintext(argument)) return take(argument);
    const { prepared, input } = known();
    if (input === 'unchecked') heldPlaintext = [...heldPlaintext, argument];
    else if (prepared?.allowPlaintext === true) take(argument.__plaintext);
    else {
      droppedPlaintext += 1;
      const detail = `dropped an unencrypted message (${droppedPlaintext} so far)`;
      say(add(told, { code: 'plaintext-dropped', detail }, Date.now()));
    }
  }

  const handled = {
    updates: 0,
    get allowPlaintext() {
      return known().prepared?.allowPlaintext ?? false;
    },
  };
  const admitting = {
    flowId,
    timeScale,
    scaled: (ms: number) => Math.max(1, Math.ceil(ms * timeScale)),
    view: shown,
    get parked() {
      return shown().parked;
    },
  };

  /** Puts an order to the loop. @returns once it was carried out. @throws ApplicationFailure if it is refused */
  async function put(order: NewOrder): Promise<void> {
    if (outcome === null) loop.take({ is: 'order', order });
    const now = () => known().orders.find(({ id }) => id === order.id);
    // Bounded by the loop: each order is carried out or refused, by the store's answer or when the flow ends.
    await condition(() => now()?.became != null || outcome !== null);
    const done = now();
    // It came together with what ended the flow.
    if (done?.became == null) throw orderRefused('flow_ended', 'The flow has ended.');
    if (done.became !== 'refused') return;
    const { code, text } = done.why ?? { code: 'flow_moved_on', text: MOVED_ON };
    if (order.action === 'cancel') throw orderRefused(code, `The flow cannot be cancelled: ${text}.`);
    // What is wrong with an invoice is a sentence of its own.
    if (order.action === 'refund-invoice' || order.action === 'approve-quote') throw orderRefused(code, text);
    if (order.action === 'pay') throw orderRefused(code, `${text}.`);
    throw orderRefused(code, `${order.action} was not carried out: ${text.replace(/\.$/, '')}.`);
  }

  const newOrder = (action: Action, { actor, note = '' }: PersonOrder, more: Partial<NewOrder> = {}): NewOrder => ({
    // After a reset Temporal applies an update again, under the same id. A cancel in the UI is none.
    id: currentUpdateInfo()?.id ?? uuid4(),
    action,
    actor,
    note,
    eventId: null,
    invoice: null,
    described: null,
    untilMs: null,
    parkedSinceMs: null,
    ...more,
  });

  setHandler(eventsSignal, (argument) => {
    signals += 1;
    takeSignal(argument);
  });
  setHandler(flowQuery, report);
  onUpdate(
    handled,
    cancelUpdate,
    async (given) => {
      const order = await admit(admitting, { update: UPDATES.cancel, action: 'cancel' }, given);
      await put(newOrder('cancel', order));
      return { cancelled: true };
    },
    (order) => {
      checkOrder(order);
      const why = outcome === null ? mayCancel(view(known(), plan, Date.now())) : ENDED;
      if (why !== null) throw orderRefused(why.code, `The flow cannot be cancelled: ${why.text}.`);
    },
  );
  onUpdate(
    handled,
    resolveUpdate,
    async (given): Promise<{ accepted: true }> => {
      const { parked } = known();
      const order = await admit(admitting, { update: UPDATES.resolve, action: given.action }, given);
      if (known().parked?.sinceMs !== parked?.sinceMs) throw orderRefused('flow_moved_on', MOVED_ON);
      checkResolve(order);
      const untilMs = order.until === undefined ? null : (readTime(order.until) ?? null);
      const eventId = eventIdOf(order);
      await put(newOrder(order.action as Action, order, { eventId, untilMs, parkedSinceMs: parked?.sinceMs ?? null }));
      return { accepted: true };
    },
    (order) => checkResolve(order),
  );
  const { whyNoInvoice } = plan;
  if (whyNoInvoice !== undefined) {
    onUpdate(
      handled,
      provideRefundInvoiceUpdate,
      async (given): Promise<{ accepted: true; expiresAt: string }> => {
        const asked = { update: UPDATES.provideRefundInvoice, action: 'refund-invoice' };
        const order = await admit(admitting, asked, given);
        await put(newOrder('refund-invoice', order, { invoice: order.invoice }));
        return { accepted: true, expiresAt: known().refundInvoice?.given?.expiresAt ?? '' };
      },
      (order) => {
        checkOrder(order);
        if (typeof order.invoice !== 'string' || order.invoice.length > MOST_INVOICE_CHARACTERS)
          throw orderRefused('no_invoice', 'The order has no invoice.');
        const why = outcome === null ? whyNoInvoice(view(known(), plan, Date.now())) : ENDED;
        if (why !== null) throw orderRefused(why.code, `${why.text}.`);
      },
    );
  }
  const { whyNoApproval } = plan;
  if (whyNoApproval !== undefined) {
    onUpdate(
      handled,
      approveQuoteUpdate,
      async (given): Promise<{ approved: true }> => {
        const asked = { update: UPDATES.approveQuote, action: 'approve-quote', input: known().prepared?.input };
        await put(newOrder('approve-quote', await admit(admitting, asked, given)));
        return { approved: true };
      },
      (order) => {
        checkOrder(order);
        const why = outcome === null ? whyNoApproval(view(known(), plan, Date.now())) : ENDED;
        if (why !== null) throw orderRefused(why.code, why.text);
      },
    );
  }
  if (plan.takesPay === true) {
    onUpdate(
      handled,
      payUpdate,
      async (given): Promise<SubmitAnswer> => {
        const order = await admit(admitting, { update: UPDATES.pay, action: 'pay' }, given, PAY_ORDER_PATIENCE_MS);
        // Bounded by the check of the input, which ends at the deadline.
        await condition(() => known().prepared !== null || outcome !== null);
        const described = await describePay(admitting, known().prepared, order);
        await put(newOrder('pay', order, { described }));
        const now = (): SubmitAnswer | null => answerOf(plan, known(), outcome, Date.now(), 'pay');
        // Bounded by the flow, which answers, parks or ends at its deadline.
        await condition(() => now() !== null || continuesAsNew);
        return now() ?? { kind: 'none', reason: outcome === null ? told.stage : 'ended' };
      },
      checkOrder,
    );
  }
  onUpdate(handled, answerUpdate, async (): Promise<SubmitAnswer> => {
    // Bounded by the flow, which answers, parks or ends at its deadline.
    await condition(() => answerNow() !== null || continuesAsNew);
    return answerNow() ?? { kind: 'none', reason: told.stage };
  });

  /** Hundreds may wait for it, and each of them is asked again after each other: it is worked out once. */
  function answerNow(): SubmitAnswer | null {
    const by = [known(), outcome, Date.now()] as const;
    if (answered === null || by.some((one, index) => one !== answered?.by[index]))
      answered = { by, answer: answerOf(plan, ...by) };
    return answered.answer;
  }

  function checkResolve(order: ResolveOrder): void {
    checkOrder(order);
    const { parked } = shown();
    if (parked === null) throw orderRefused('not_parked', 'The flow is not parked: there is nothing to resolve.');
    if (order.since !== undefined && order.since !== parked.since) throw orderRefused('flow_moved_on', MOVED_ON);
    if (known().orders.some(({ became }) => became === null))
      throw orderRefused('other_order_under_way', 'Another order is being carried out.');
    const action = order.action as Action;
    const why = mayOrder(known(), { action, parkedSinceMs: known().parked?.sinceMs ?? null });
    if (why !== null) throw orderRefused(why.code, `${why.text}.`);
    if (typeof order.note !== 'string' || order.note.trim() === '')
      throw orderRefused('no_note', 'A note that says why is needed.');
    const doubt = validateEventChoice(parked, order);
    if (doubt !== null) throw orderRefused(doubt.code, doubt.text);
    const wrong = untilProblem(order, Date.now());
    if (wrong !== null) throw orderRefused('invalid_input', wrong);
  }

  function eventIdOf({ action, eventId }: ResolveOrder): string | null {
    if (action === 'accept-event' || action === 'dismiss-event') return known().parked?.about ?? null;
    if (action !== 'trust-settlement') return null;
    // What the person was shown: those that report an end.
    const claimed = view(known(), plan, Date.now()).claimed.filter(({ meaning }) => isFinal(meaning));
    return eventId ?? claimed.at(-1)?.of.event.id ?? null;
  }

  // A cancel in the UI is an order that may be refused: it must not abort the flow's steps.
  CancellationScope.current().cancelRequested.catch(() => {
    // It may be our own request, with which a cancelled flow closes.
    if (outcome === null) loop.take({ is: 'order', order: newOrder('cancel', { actor: 'Temporal UI' }) });
  });
  const reports = reportChanges(
    {
      flowId,
      timeScale,
      view: shown,
      get allowPlaintext() {
        return handled.allowPlaintext;
      },
      isSending: () => known().running.some((step) => step.do === 'send') && known().parked === null,
    },
    rawInput,
    carried?.reports,
  );

  const isQuiet = (): boolean => allHandlersFinished() && notices.idle() && (reports?.idle() ?? true);
  const carry = (): Carried => ({
    startedAt: frame.startedAt,
    known: known(),
    told,
    droppedPlaintext,
    ...(reports === undefined ? {} : { reports: reports.carry() }),
  });

  return CancellationScope.nonCancellable(async () => {
    if (carried !== undefined) {
      // The run before has shown them, and its reminders ended with it.
      showDetails();
      if (known().parked !== null) notices.show(known().parked);
    }
    let end = await loop.run();
    while (end === 'continue') {
      continuesAsNew = true;
      // Bounded by handlers and callbacks, each bounded by itself.
      await condition(() => !loop.isIdle() || isQuiet());
      // What came meanwhile is of this run: the next one would never know of it.
      if (loop.isIdle()) return continueAsNew<ReturnType<typeof workflowOf>>(rawInput, carry());
      continuesAsNew = false;
      end = await loop.run();
    }
    if (known().parked !== null) {
      notices.show(null);
      if (end.order === undefined && !isByOrder(known())) say(add(told, DECIDED_MEANWHILE, Date.now()));
    }
    outcome = outcomeOf(plan, known(), end, Date.now());
    say(add({ ...told, stage: 'done' }, { code: 'ended', detail: outcome.detail }, Date.now()));
    // Its closed status shows that already: this saves an event in most histories.
    if (outcome.state !== 'completed') markAs(outcome.state);
    // Bounded by handlers and callbacks, each bounded by itself.
    await condition(isQuiet);
    return outcome;
  }).then((ended) => close({ flowId, timeScale, report }, ended));
}

const MOST_INVOICE_CHARACTERS = 4_000;
const ENDED = { code: 'flow_ended', text: 'it has ended' } as const;
const MOVED_ON = 'The flow has moved on since the order was given. Look at it again.';

const SUMMARIES: Readonly<Record<string, string>> = {
  'failure-grace': 'Is the failure contradicted?',
  'wait-for-window': 'Settle what is unknown',
};
const summaryOf = ({ rule }: Decision): string => SUMMARIES[rule] ?? 'Deadline of the flow';

function newKnownOf(plan: Plan, rawInput: unknown, timeScale: number): Known {
  const seconds = numberIn(rawInput, 'deadlineSeconds', 0, 2_592_000) ?? defaultDeadlineSeconds(plan.kind);
  const scaled = (ms: number): number => Math.max(1, Math.ceil(ms * timeScale));
  const times = {
    timeScale,
    patienceMs: Math.max(AT_LEAST_MS, scaled(SETTLE_PATIENCE_MS)),
    // Until the check has said how long the client waits for an answer.
    settleMs: scaled(SETTLE_PATIENCE_MS),
    graceMs: plan.graceMs === 0 ? 0 : scaled(plan.graceMs),
    deadlineMs: scaled(seconds * 1_000),
  };
  return newKnown(
    plan.requests.map(({ name }) => name),
    times,
    Date.now(),
  );
}

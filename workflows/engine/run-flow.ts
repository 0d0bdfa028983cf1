import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  rootCause,
  TemporalFailure,
  continueAsNew,
  workflowInfo,
} from '@temporalio/workflow';
import type { Cause } from '../../src/protocol/causes.js';
import type { FlowReport, Outcome, ResolveOrder, SubmitAnswer } from '../../src/protocol/messages.js';
import { END_REASONS, type EndReason, type FlowKind, UPDATES } from '../../src/protocol/vocabulary.js';
import { act } from './activities.js';
import { admit } from './admit.js';
import { openFlow, type Flow, type FlowCarried } from './flow.js';
import { markAs } from './search-attributes.js';
import { answerUpdate, cancelUpdate, resolveUpdate, type Resolution } from './messages.js';
import { checkOrder, onUpdate, orderRefused, legalAction } from './park.js';
import { STORE, MAX_SIGNALS_PER_RUN, MAX_UPDATES_PER_RUN, RECORD_PATIENCE_MS } from './policies.js';
import { askForEnd, tryStop, whatWasMoved, whyMaybeSent, whyMoved, whyNoStop } from './stop.js';
import { FlowEnd } from './flow-end.js';
import { validateEventChoice } from './event-book.js';
import { untilProblem } from '../../src/protocol/until.js';

/**
 * Runs a flow from opening to closing. The closed status reports the truth: completed and refunded close Completed;
 * failed and expired close Failed, with the reason as type; cancelled closes Cancelled.
 */
export async function runFlow(
  kind: FlowKind,
  rawInput: unknown,
  carried: FlowCarried | undefined,
  story: (flow: Flow) => Promise<Outcome>,
): Promise<FlowReport> {
  const flow = openFlow(kind, rawInput, carried);
  answerUpdates(flow);
  handleUiCancel(flow);
  // A cancel in the UI is an order that may be refused: it must not abort the flow's steps.
  const outcome = await CancellationScope.nonCancellable(() =>
    story(flow)
      .catch((error) => outcomeOf(flow, error))
      .then((ended) => unlessMoved(flow, ended)),
  );
  flow.end(outcome);
  // Its closed status shows that already: this saves an event in most histories.
  if (outcome.state !== 'completed') markAs(outcome.state);
  flow.answer ??= { kind: 'none', reason: outcome.reason ?? outcome.state };
  const allReported = () => flow.reports?.idle() ?? true;
  // Bounded by handlers and callbacks, each bounded by itself.
  await CancellationScope.nonCancellable(() =>
    condition(() => allHandlersFinished() && allReported() && flow.notifying === 0),
  );
  return close(flow, outcome);
}

function answerUpdates(flow: Flow): void {
  onUpdate(
    flow,
    cancelUpdate,
    async (given) => {
      const order = await admit(flow, { update: UPDATES.cancel, action: 'cancel' }, given);
      const why = await tryStop(flow, 'cancelled', order);
      const refusal = why === null || flow.view().outcome !== null ? await whyNotCancelled(flow) : why;
      if (refusal === null) return { cancelled: true };
      flow.note('cancel-refused', `cancel refused: ${refusal.text}`, order.actor);
      throw cancelRefused(refusal);
    },
    (order) => {
      checkOrder(order);
      const refusal = whyNoStop(flow);
      if (refusal !== null) throw cancelRefused(refusal);
    },
  );

  onUpdate(
    flow,
    resolveUpdate,
    async (given): Promise<{ accepted: true }> => {
      const { parked } = flow;
      const order = await admit(flow, { update: UPDATES.resolve, action: given.action }, given);
      // Meanwhile another order may have been taken, or an event may have decided.
      if (flow.parked !== parked) throw orderRefused('flow_moved_on', MOVED_ON);
      checkResolve(flow, order);
      flow.resolution = order as Resolution;
      // Until it is carried out, or refused by what is proven at that moment.
      // Bounded by park, which asks inbox and service once and then decides.
      await condition(() => flow.resolution !== order || flow.view().outcome !== null);
      if (flow.refused?.order === order) {
        const { code, text } = flow.refused.why;
        throw orderRefused(code, `${order.action} was not carried out: ${text}.`);
      }
      return { accepted: true };
    },
    (order) => checkResolve(flow, order),
  );

  onUpdate(flow, answerUpdate, async (): Promise<SubmitAnswer> => {
    // A flow that continues as new waits for this handler. It does so only if the answer is known, or none will come.
    // Bounded by the flow, which answers, parks or ends at its deadline.
    await condition(
      () => flow.answer !== null || flow.parked !== null || flow.continuesAsNew || flow.view().outcome !== null,
    );
    return flow.answer ?? { kind: 'none', reason: flow.parked?.reason ?? flow.view().stage };
  });
}

function handleUiCancel(flow: Flow): void {
  CancellationScope.current().cancelRequested.catch(() =>
    CancellationScope.nonCancellable(async () => {
      // It may be our own request, with which a cancelled flow closes.
      if (flow.view().outcome?.state === 'cancelled') return;
      const order = { actor: 'Temporal UI' };
      const refusal = await tryStop(flow, 'cancelled', order);
      if (refusal !== null) flow.note('cancel-refused', `cancel refused: ${refusal.text}`, order.actor);
    }),
  );
}

/** Another stop may have been faster, or a step that was about to end the flow. Null: it is cancelled, or will be. */
async function whyNotCancelled(flow: Flow): Promise<Cause | null> {
  // A new run carries the stop out.
  // Bounded by the flow, whose stop is decided: it ends.
  await condition(() => flow.view().outcome !== null || flow.continuesAsNew);
  const { outcome } = flow.view();
  if (outcome === null || outcome.state === 'cancelled') return null;
  return { code: 'flow_ended', text: `it has ended as ${outcome.state}` };
}

const cancelRefused = ({ code, text }: Cause) => orderRefused(code, `The flow cannot be cancelled: ${text}.`);

const MOVED_ON = 'The flow has moved on since the order was given. Look at it again.';

function checkResolve(flow: Flow, order: ResolveOrder): void {
  checkOrder(order);
  if (flow.parked === null) throw orderRefused('not_parked', 'The flow is not parked: there is nothing to resolve.');
  if (order.since !== undefined && order.since !== flow.parked.since) throw orderRefused('flow_moved_on', MOVED_ON);
  if (flow.resolution !== null) throw orderRefused('other_order_under_way', 'Another order is being carried out.');
  if (legalAction(flow, order.action) === undefined) {
    const legal = flow.parked.actions.join(', ');
    throw orderRefused('unknown_action', `"${order.action}" is not possible now. Possible: ${legal}.`);
  }
  if (typeof order.note !== 'string' || order.note.trim() === '') {
    throw orderRefused('no_note', 'A note that says why is needed.');
  }
  const doubt = validateEventChoice(flow.parked, order);
  if (doubt !== null) throw orderRefused(doubt.code, doubt.text);
  const wrong = untilProblem(order, Date.now());
  if (wrong !== null) throw orderRefused('invalid_input', wrong);
}

/** Turns what a flow threw into its outcome; anything but one of our endings is a bug and stays an error. */
function outcomeOf(flow: Flow, error: unknown): Outcome | Promise<Outcome> {
  if (error instanceof FlowEnd) return error.outcome;
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure) {
    const reason = END_REASONS.find((candidate) => candidate === (error.cause as ApplicationFailure).type);
    const detail = rootCause(error) ?? reason ?? '';
    if (reason !== undefined && flow.money.at === 'sent')
      return askPerson(flow, error.activityType, { code: 'invalid_input', text: detail });
    if (reason !== undefined) return { state: 'failed', reason, detail };
  }
  // Anything else is a bug, not an ending: a plain Error fails the workflow task, so that the flow waits for the fixed
  // version instead of failing. A failure of Temporal's own, such as a cancellation, would close it as failed.
  if (error instanceof TemporalFailure) {
    const of = error instanceof ActivityFailure ? error.activityType : error.name;
    throw new Error(`unexpected failure of ${of}`, { cause: error });
  }
  throw error;
}

/**
 * Every end that says that nothing moved passes through here: the flow's claims and its inbox are checked first. A stop
 * has checked them, and is what was promised to its person; and a person's decision needs no check.
 */
async function unlessMoved(flow: Flow, ended: Outcome): Promise<Outcome> {
  const saysNothingMoved =
    ended.state !== 'completed' && ended.state !== 'refunded' && ended.reason !== 'closed_by_person';
  if (!saysNothingMoved) return ended;
  flow.isEnding = true;
  const isRefused = ended.reason === 'rejected_by_service';
  const says = { mayBeReported: ended.reason !== null && MAY_BE_REPORTED.includes(ended.reason), isRefused };
  for (let isVoided = false; ;) {
    if (flow.stop !== null) return flow.stop;
    const moved = await whyMoved(flow, RECORD_PATIENCE_MS, says);
    const instead = isVoided ? null : await flow.overtaken(ended).catch((error) => outcomeOf(flow, error));
    if (instead !== null) return unlessMoved(flow, instead);
    // Claims are voided last: if the flow goes on, it may need them.
    isVoided = flow.money.at === 'unsent';
    const why = moved ?? (await whyMaybeSent(flow, ended.reason ?? ended.state)) ?? whatWasMoved(flow, says);
    if (why !== null) return askPerson(flow, ended.detail, why, isRefused);
    if (flow.stopping === 0) return flow.stop ?? ended;
    // What comes until the stop has decided may prove that money moved.
    // Bounded by tryStop, which asks store and service for a bounded time.
    await condition(() => flow.stopping === 0);
  }
}

/** Ends that do not deny that the service has something under the reference: its failed payment, or another request. */
const MAY_BE_REPORTED: readonly string[] = ['failed_at_service', 'other_request_same_reference'] satisfies EndReason[];

const askPerson = (flow: Flow, step: string, why: Cause, isRefused = false): Promise<Outcome> =>
  askForEnd(flow, step, why, isRefused).catch((error) => {
    if (error instanceof FlowEnd) return error.outcome;
    throw error;
  });

type Closing = Pick<Flow, 'flowId' | 'timeScale' | 'report'>;

export async function close(flow: Closing, outcome: Outcome): Promise<FlowReport> {
  const report = flow.report();
  if (outcome.state === 'completed' || outcome.state === 'refunded') return report;
  if (outcome.state === 'cancelled') await becomeCancelled(flow);
  throw ApplicationFailure.create({
    type: outcome.reason ?? outcome.state,
    message: outcome.detail,
    nonRetryable: true,
    details: [report],
  });
}

/** Temporal closes an execution as Cancelled only if its cancellation was requested, so we request it. */
async function becomeCancelled(flow: Closing): Promise<never> {
  const scope = CancellationScope.current();
  if (!scope.consideredCancelled) {
    // Bounded by the Temporal server, which runs this very workflow.
    await CancellationScope.nonCancellable(() =>
      act(STORE, 'Close as Cancelled', flow.timeScale).requestOwnCancel({ flowId: flow.flowId }),
    );
  }
  return scope.cancelRequested;
}

/** True if the run has grown so long that the flow should continue in a new one. */
export function tooLong(flow: Flow): boolean {
  const isFull = flow.signals() >= MAX_SIGNALS_PER_RUN || flow.updates >= MAX_UPDATES_PER_RUN;
  return isFull || workflowInfo().continueAsNewSuggested;
}

/** Nothing is in progress that a new run would cut off. */
export function canContinueAsNew(flow: Flow): boolean {
  return allHandlersFinished() && flow.notifying === 0 && (flow.reports?.idle() ?? true);
}

/** Only between steps: no POST is in flight, and the carried state holds event ids and the absolute deadline. */
export async function continueFlowAsNew(flow: Flow, input: unknown, carried: () => unknown): Promise<never> {
  flow.continuesAsNew = true;
  // Bounded by handlers and callbacks, each bounded by itself.
  await condition(() => canContinueAsNew(flow));
  return continueAsNew<(input: unknown, carried: unknown) => Promise<unknown>>(input, carried());
}

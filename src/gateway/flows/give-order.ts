import type { Client } from '@temporalio/client';
import { v7 as uuidv7 } from 'uuid';
import type { Money } from '../../flows/largest-amount.js';
import { rowIdOf } from '../../flows/event-of-row.js';
import { APPROVE_QUOTE } from '../../protocol/four-eyes.js';
import { openedIdOf } from '../../protocol/events.js';
import type { FlowWithMoney } from '../../api/flow.js';
import type { OrderProof } from '../../protocol/messages.js';
import type { Permission } from '../../protocol/permissions.js';
import { refusalCodeOf, type RefusalCode } from '../../protocol/refusals.js';
import { UPDATES } from '../../protocol/vocabulary.js';
import { awaitUpdate } from '../../temporal/await-answer.js';
import { type FlowFacts, foreignType } from '../../temporal/flow-handle.js';
import { traced } from '../../tracing.js';
import type { AuditNote } from '../../store/audit.js';
import { proofOfOrder } from '../../store/order-proof.js';
import type { Proposal } from '../../store/proposal.js';
import { asOrder, type Caller, whoIs } from '../http/bearer-token.js';
import { type FlowAddress, flowAddress } from '../http/flow-path.js';
import { mayOrder } from '../http/may-order.js';
import { errorForLog, Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import { shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';
import { permissionFor, secondPerson, topicOf } from './second-person.js';
import { resolvedView } from './terminated-view.js';

/** A person's order to a flow, which the flow takes or refuses. */
export interface FlowOrder {
  readonly update: OrderUpdate;
  /** Id of the update: sent twice, it is taken once. */
  readonly id: string;
  readonly order: Readonly<Record<string, unknown>> & { readonly actor: string; readonly proof?: OrderProof };
}
export type OrderUpdate = Exclude<(typeof UPDATES)[keyof typeof UPDATES], 'answer'>;

export type OrderOutcome =
  | { readonly kind: 'taken' }
  /** The flow took it, and is still carrying it out. */
  | { readonly kind: 'under-way' }
  /** The flow is not in a state in which that is legal; `type` is the flow's word for the cause. */
  | { readonly kind: 'refused'; readonly type: string; readonly message: string }
  /** Closed, or never started. */
  | { readonly kind: 'not-found' }
  /** No worker took it in time: it may still be taken. */
  | { readonly kind: 'no-answer' };

const DEADLINE_MS = 10_000;

/** Sends an order as an update and waits for the flow's answer. */
export async function orderFlow(
  client: Client,
  flowId: string,
  { update, id, order }: FlowOrder,
  withinMs = DEADLINE_MS,
): Promise<OrderOutcome> {
  const waited = await traced({ name: `order ${update}`, flowId }, () =>
    awaitUpdate<unknown>(client, flowId, { name: update, id, args: [order] }, { withinMs }),
  );
  switch (waited.kind) {
    case 'answered':
      return { kind: 'taken' };
    case 'not-yet':
      return { kind: waited.accepted ? 'under-way' : 'no-answer' };
    case 'closed':
      return { kind: 'not-found' };
    case 'refused':
      return waited;
    default:
      return waited satisfies never;
  }
}

/** One person's order. */
export interface GivenOrder {
  readonly update: OrderUpdate;
  readonly action: string;
  /** The argument of the update, without the actor. */
  readonly content: Readonly<Record<string, unknown>> & { readonly note?: string | undefined };
  /** The part of `content` that a second person has to confirm as well. */
  readonly choice?: Readonly<Record<string, string>>;
}

/** An order that may be carried out, and is recorded. */
export interface Admitted {
  readonly id: string;
  /** Who ordered it; who confirmed it. */
  readonly actor: string;
  readonly second: string | null;
  readonly note: string | undefined;
  readonly proposal: Proposal | undefined;
}

/** Records a refusal. The caller gets the refusal even if the store fails. */
export async function recordRefusal(
  { store, logger }: Pick<FlowOperationDeps, 'store' | 'logger'>,
  note: Omit<AuditNote, 'kind'>,
): Promise<void> {
  await store.audit.append({ ...note, kind: 'refused' }).catch((error: unknown) => {
    logger.error({ flowId: note.flowId, action: note.action, error: errorForLog(error) }, 'a refusal was not recorded');
  });
}

/** For this long, all refusals of one name for the same missing permission are one entry. */
const SAME_REFUSAL_MS = 600_000;

/**
 * Records that a role did not suffice: the first refusal at once, later ones as a count. The audit log is kept for
 * ever, and a token without permissions must not fill it.
 */
export function createRoleRefusals(
  deps: Pick<FlowOperationDeps, 'store' | 'logger' | 'monotonicMs'>,
): (caller: Caller, permission: Permission, request: { readonly params: unknown }) => void {
  /** By name and permission: when the last one was recorded, and how many came since. */
  const recorded = new Map<string, { readonly atMs: number; more: number }>();
  return (caller, permission, { params }) => {
    const key = `${permission} ${caller.name}`;
    const last = recorded.get(key);
    const now = deps.monotonicMs();
    if (last !== undefined && now - last.atMs < SAME_REFUSAL_MS) {
      last.more += 1;
      return;
    }
    recorded.set(key, { atMs: now, more: 0 });
    const more = last === undefined || last.more === 0 ? {} : { unrecordedSinceTheLast: last.more };
    const { kind, reference } = (params ?? {}) as { readonly kind?: unknown; readonly reference?: unknown };
    const flowId = flowAddress(kind, reference)?.flowId;
    const details = { why: `the role ${caller.role} does not suffice`, ...more };
    void recordRefusal(deps, { ...whoIs(caller), flowId, action: permission, details });
  };
}

/**
 * Runs an order; if it is refused, that is recorded, unless what it is about does not exist.
 *
 * @throws Refusal 429, with no entry, if the same order was refused too often; what `work` throws
 */
export async function recordingRefusals<T>(
  deps: Pick<FlowOperationDeps, 'store' | 'logger' | 'budget'>,
  about: Omit<AuditNote, 'kind' | 'details'>,
  note: string | undefined,
  work: () => Promise<T>,
  isRefused = (error: unknown): boolean => error instanceof Refusal && error.status < 500,
): Promise<T> {
  const charge = () => deps.budget.take({ ...about, kind: 'refused' });
  // Only asked whether there is room: what is under way and is not refused takes none, however often it is repeated.
  charge()();
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || !isRefused(error)) throw error;
    charge();
    if (error.status !== 404) {
      await recordRefusal(deps, { ...about, details: { note: note ?? '', why: error.message } });
    }
    throw error;
  }
}

/**
 * Whether an order may be carried out: with one person, or with the confirmation of a second one. It is recorded with
 * what the flow showed; an order that cannot be recorded is not carried out.
 *
 * @param view the flow as it is shown. Undefined for orders that never need a second person
 * @returns undefined: it is a proposal now
 * @throws Refusal, StoreUnavailableError
 */
export async function admitOrder(
  deps: Pick<FlowOperationDeps, 'store' | 'settings' | 'reader'>,
  caller: Caller,
  { flowId, reference }: FlowAddress,
  { action, content, choice = {} }: GivenOrder,
  view?: FlowWithMoney,
): Promise<Admitted | undefined> {
  const { store, settings, reader } = deps;
  const amounts = action === APPROVE_QUOTE ? amountsOf(await reader.facts(flowId), view) : [];
  let proposal: Proposal | undefined;
  const permission = permissionFor(action);
  const question = { caller, permission, order: { action, amounts, fourEyes: settings.fourEyes } };
  if (mayOrder(question) !== 'yes') {
    const waits = view && topicOf(view);
    // Else it would stand in the way of the order that the flow waits for.
    const topic = action === APPROVE_QUOTE ? 'approval' : 'decision';
    if (waits?.topic !== topic) throw notNow(view, reference);
    const actions = view?.parked?.actions;
    if (actions !== undefined && !actions.some((legal) => legal === action)) {
      const why = `"${action}" is not possible now. Legal now: ${actions.join(', ')}.`;
      throw new Refusal(409, why, { reference, code: 'unknown_action', actions });
    }
    await requireItsEvent(store, view, choice['eventId'], reference);
    proposal = await secondPerson(deps, question, { ...waits, flowId, action, choice, note: content.note ?? '' });
    if (proposal === undefined) return undefined;
  }
  const id = proposal?.id ?? `ord_${uuidv7()}`;
  const first = proposal === undefined ? null : { by: proposal.by, note: proposal.note };
  const details = { note: content.note ?? '', ...choice, ...proposal?.choice, first, parked: view?.parked ?? null };
  await store.audit.append({ ...whoIs(caller), kind: 'order', flowId, subject: id, action, details });
  if (proposal === undefined) return { id, actor: caller.name, second: null, note: content.note, proposal };
  const note = [proposal.note, content.note && `${caller.name}: ${content.note}`].filter(Boolean).join('; ');
  return { id, actor: proposal.by, second: caller.name, note, proposal };
}

/** What the start named and what the flow shows. None if the start named none, as another Temporal client's does. */
function amountsOf(facts: FlowFacts | undefined, view: FlowWithMoney | undefined): readonly Money[] {
  const known = [facts?.money, view?.terms?.sends, view?.terms?.receives].filter(isMoney);
  return isMoney(facts?.money) ? known : [];
}

const isMoney = (given: Partial<Record<keyof Money, string | null>> | null | undefined): given is Money =>
  typeof given?.amount === 'string' && typeof given.currency === 'string';

/** A proposal about an event that the flow does not have would stand in the way of the others. @throws Refusal 409 */
async function requireItsEvent(
  { inbox }: Pick<FlowOperationDeps['store'], 'inbox'>,
  view: FlowWithMoney | undefined,
  eventId: string | undefined,
  reference: string,
): Promise<void> {
  if (eventId === undefined || view === undefined) return;
  // The row of an untrusted event may be deleted while the flow shows it.
  if (JSON.stringify(view.parked?.evidence ?? {}).includes(`"${eventId}"`)) return;
  if ((await inbox.get(rowIdOf(openedIdOf(eventId))))?.flowId === view.flowId) return;
  const actions = view.parked?.actions ?? [];
  throw new Refusal(409, 'The flow has no such event.', { reference, code: 'event_not_asked_about', actions });
}

/** The flow is neither parked nor waiting for an approval, or its state is not known. */
export function notNow(view: FlowWithMoney | undefined, reference: string): Refusal {
  if (view?.state === 'parked' || view?.stage.startsWith(NOT_REPORTED)) {
    return new Refusal(
      503,
      'No worker answers, so what the flow waits for is unknown. Order it again later.',
      { reference, code: 'no_worker' },
      RETRY_AFTER_SECONDS,
    );
  }
  return new Refusal(409, 'The flow waits for no decision now.', { reference, code: 'not_parked', actions: [] });
}

/**
 * Sends an order to a flow: recorded, and with the proof that a gateway knows who gave it.
 *
 * @param isDone whether a flow that has ended did what was ordered
 * @throws Refusal, StoreUnavailableError
 */
export async function giveOrder(
  deps: FlowOperationDeps,
  caller: Caller,
  address: FlowAddress,
  order: GivenOrder,
  isDone: (view: FlowWithMoney) => boolean = () => false,
): Promise<{ readonly view: FlowWithMoney; readonly isProposed: boolean }> {
  const { store, client, reader, logger } = deps;
  const { flowId } = address;
  const asker = asOrder(caller);
  const { update, action, content } = order;
  const about = { flowId, action, ...whoIs(caller) };
  const showsWhatItIsFor = update === UPDATES.resolve || update === UPDATES.approveQuote;
  // Nothing is decided about a flow that does not exist or has ended, and there are any number of those: no entry.
  const found = await reader.facts(flowId);
  if (found?.isOpen !== true) {
    const view = await resolvedView(await shownFlow(reader, address, asker), store);
    if (isDone(view)) return { view, isProposed: false };
    throw hasEnded(view);
  }
  return recordingRefusals(deps, about, content.note, async () => {
    const before = showsWhatItIsFor ? await shownFlow(reader, address, asker) : undefined;
    if (update === UPDATES.approveQuote && before !== undefined) requireApprovalIsAwaited(before);
    const admitted = await admitOrder(deps, caller, address, order, before);
    if (admitted === undefined) {
      logger.info({ flowId, action, actor: caller.name }, 'a person proposed an order');
      return { view: await shownFlow(reader, address, asker), isProposed: true };
    }
    const { id, actor, second, note, proposal } = admitted;
    const since = update === UPDATES.resolve ? before?.parked?.since : undefined;
    const said = { ...content, ...proposal?.choice, ...defined({ note, since }), actor };
    const proof = proofOfOrder(store, { flowId, update, order: said }, { id, second });
    const outcome = await orderFlow(client, flowId, { update, id, order: { ...said, proof } });
    if (proposal !== undefined && outcome.kind !== 'no-answer') await store.proposals.end(proposal, true);
    const view = await shownFlow(reader, address, asker);
    if (outcome.kind === 'not-found' && isDone(view)) return { view, isProposed: false };
    const facts = outcome.kind === 'no-answer' ? await reader.facts(flowId) : undefined;
    requireTaken(outcome, view, facts && foreignType(facts));
    logger.info({ flowId, order: update, action, actor: caller.name }, 'a person gave an order');
    return { view, isProposed: false };
  });
}

/** Refuses what the flow's own view already excludes: each order to a flow costs Temporal. @throws Refusal 409 */
function requireApprovalIsAwaited(view: FlowWithMoney): void {
  if (view.stage.startsWith(NOT_REPORTED) || topicOf(view)?.topic === 'approval') return;
  const { reference, parked } = view;
  const actions = parked?.actions ?? [];
  throw new Refusal(409, 'The flow waits for no approval of a quote.', {
    reference,
    code: 'approval_not_awaited',
    actions,
  });
}

const NOT_REPORTED = 'not reported';

const defined = (members: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

export const hasEnded = ({ state, reference, parked }: FlowWithMoney): Refusal => {
  const ended = `The flow has ended as ${state}; it takes no orders any more.`;
  const terminated = 'The flow was terminated: resume it. It takes no other orders.';
  const actions = parked?.actions ?? [];
  return state === 'parked'
    ? new Refusal(409, terminated, { reference, code: 'flow_terminated', actions })
    : new Refusal(409, ended, { reference, code: 'flow_ended', actions });
};

const CONTENT_PROBLEMS: readonly (RefusalCode | undefined)[] = ['invalid_input', 'invoice_refused'];

/** @throws Refusal unless the flow took it */
function requireTaken(outcome: OrderOutcome, view: FlowWithMoney, foreign: string | undefined): void {
  const { reference } = view;
  switch (outcome.kind) {
    case 'taken':
    case 'under-way':
      return;
    case 'no-answer':
      if (foreign !== undefined) {
        const why = `The flow takes no orders: ${foreign}. End it in Temporal (terminate).`;
        throw new Refusal(409, why, { reference, code: 'foreign_flow' });
      }
      throw new Refusal(
        503,
        'No worker took the order yet. Check the flow before retrying.',
        { reference, code: 'no_worker' },
        RETRY_AFTER_SECONDS,
      );
    case 'refused': {
      // An error in the order's content does not depend on the flow's state.
      const code = refusalCodeOf(outcome.type);
      if (CONTENT_PROBLEMS.includes(code)) throw new Refusal(400, outcome.message, { reference, code });
      const actions = view.parked?.actions ?? [];
      const legal = actions.length === 0 ? 'It waits for no decision now.' : `Legal now: ${actions.join(', ')}.`;
      // For an unknown action the flow itself has already listed the actions.
      const more = code === 'unknown_action' && actions.length > 0 ? '' : ` ${legal}`;
      throw new Refusal(409, `The flow refused it: ${outcome.message.replace(/\.$/, '')}.${more}`, {
        reference,
        code,
        actions,
      });
    }
    case 'not-found':
      throw hasEnded(view);
    default:
      return outcome satisfies never;
  }
}

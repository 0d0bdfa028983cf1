import { v7 as uuidv7 } from 'uuid';
import { canonicalJson } from '../../store/canonical-json.js';
import type { Proposal, ProposalKey } from '../../store/proposal.js';
import type { FlowWithMoney, ProposedOrder } from '../../api/flow.js';
import { APPROVE_QUOTE, TRUST_EVENT } from '../../protocol/four-eyes.js';
import { type Permission, rolesWith } from '../../protocol/permissions.js';
import type { RefusalCode } from '../../protocol/refusals.js';
import { shellWord } from '../../protocol/shell-word.js';
import { type Caller, whoIs } from '../http/bearer-token.js';
import { mayOrder, type Question } from '../http/may-order.js';
import { Refusal } from '../http/refusal.js';
import type { FlowOperationDeps } from './deps.js';

type Deps = Pick<FlowOperationDeps, 'store'>;

/** After a weekend an order has to be proposed again. */
const PROPOSAL_LIFE_MS = 24 * 60 * 60 * 1_000;

/** An order that one person cannot give alone. */
export interface OrderOfTwo extends ProposalKey {
  readonly subject: string;
  readonly action: string;
  /** Further parts of the order. */
  readonly choice: Readonly<Record<string, string>>;
  readonly note: string;
}

/** What is asked about such an order: by whom, and by which rule it needs two persons. */
export type QuestionOfTwo = Question & { readonly caller: Caller; readonly order: NonNullable<Question['order']> };

/**
 * The first person's order becomes a proposal (undefined); a second person's order confirms it. The second person must
 * not have started this flow, and of several who confirm at once exactly one succeeds.
 *
 * @returns the proposal that the caller has confirmed, also if the caller confirmed it before and asks again
 * @throws Refusal 403, 409
 */
export async function secondPerson(
  deps: Deps,
  question: QuestionOfTwo,
  order: OrderOfTwo,
): Promise<Proposal | undefined> {
  const { proposals, audit } = deps.store;
  const { caller } = question;
  const { flowId, topic, subject, action, choice, note } = order;
  const reference = flowId.slice(flowId.indexOf('/') + 1);
  const refuse = (status: number, code: RefusalCode, why: string) => new Refusal(status, why, { reference, code });
  const open = await proposals.get({ flowId, topic });
  if (open === undefined || open.subject !== subject) {
    const id = `ord_${uuidv7()}`;
    const details = { note, choice, about: { topic, subject } };
    await audit.append({ ...whoIs(caller), kind: 'proposal', flowId, subject: id, action, details });
    const stands = await proposals.propose({ ...order, id, by: caller.name }, PROPOSAL_LIFE_MS);
    if (stands.id === id) return undefined;
    throw refuse(
      409,
      'other_proposal',
      `${stands.by} was quicker, and proposed "${stands.action}". ${whatNow(stands)}`,
    );
  }
  if (open.note === null) {
    const why = `${open.by} proposed "${open.action}". ${UNREADABLE}`;
    throw refuse(409, 'proposal_unreadable', `${why} To withdraw it: ${withdrawCommand(open)}.`);
  }
  if (open.action !== action)
    throw refuse(409, 'other_proposal', `${open.by} proposed "${open.action}". ${whatNow(open)}`);
  const starters = await audit.startersOf(flowId);
  const verdict = mayOrder({ ...question, order: { ...question.order, proposedBy: open.by, starters } });
  if (verdict === 'needs_second_person') {
    throw refuse(
      409,
      'needs_second_person',
      `You proposed it yourself: another person confirms it, until ${open.expiresAt}. ${whatNow(open)}`,
    );
  }
  // Both order the same: what the second person leaves out may not have been seen.
  if (canonicalJson(choice) !== canonicalJson(open.choice)) {
    const details = JSON.stringify(open.choice);
    throw refuse(
      409,
      'other_proposal',
      `${open.by} proposed it with these details: ${details}. Order it with the same. ${whatNow(open)}`,
    );
  }
  if (verdict !== 'yes') {
    throw refuse(403, 'started_by_caller', `${caller.name} started this flow: another person confirms it.`);
  }
  if (await proposals.confirm(open, caller.name)) return open;
  const now = await proposals.get({ flowId, topic });
  if (now?.id !== open.id || now.confirmedBy === null)
    throw refuse(409, 'proposal_ended', 'The proposal has just ended. Look at the flow again.');
  throw refuse(
    409,
    'proposal_ended',
    `${now.confirmedBy} has confirmed it already. If nothing follows, order it again in a minute.`,
  );
}

/**
 * Withdraws a proposal: its proposer, and anyone who may give that order, may do so.
 * @throws Refusal 403, 409
 */
export async function withdrawProposal(
  { store }: Deps,
  caller: Caller,
  { flowId, topic, subject }: Pick<OrderOfTwo, 'flowId' | 'topic' | 'subject'>,
  why: string | undefined,
): Promise<void> {
  const { proposals, audit } = store;
  const reference = flowId.slice(flowId.indexOf('/') + 1);
  const refuse = (status: number, code: RefusalCode, what: string) => new Refusal(status, what, { reference, code });
  const open = await proposals.get({ flowId, topic });
  if (open === undefined || open.subject !== subject)
    throw refuse(409, 'proposal_ended', 'No order waits for a second person.');
  const { id, action, by } = open;
  const permission = permissionFor(action);
  if (caller.name !== by && mayOrder({ caller, permission }) !== 'yes') {
    throw refuse(
      403,
      'no_permission',
      `${by} proposed "${action}": to withdraw it needs a token of theirs, or of the role ${rolesWith(permission).join(' or ')}.`,
    );
  }
  const details = { note: why ?? '', by };
  await audit.append({ ...whoIs(caller), kind: 'withdrawal', flowId, subject: id, action, details });
  if (await proposals.end(open)) return;
  throw refuse(409, 'proposal_ended', 'It is being carried out, or was withdrawn. Look at the flow again in a minute.');
}

/** Orders that are no decision about a parked flow. */
const PERMISSION_OF_ORDER: Readonly<Partial<Record<string, Permission>>> = {
  cancel: 'cancel',
  pay: 'pay',
  'refund-invoice': 'give-refund-invoice',
  [APPROVE_QUOTE]: 'approve-quote',
  [TRUST_EVENT]: 'replay-event',
};

/** The permission that an order needs, of each person who gives it. */
export const permissionFor = (action: string): Permission => PERMISSION_OF_ORDER[action] ?? 'resolve';

const UNREADABLE = 'Its details cannot be decrypted here: a payload key is missing, or the row was changed.';

const whatNow = (proposal: Proposal): string =>
  `To confirm: ${confirmCommand(proposal)}. To withdraw it: ${withdrawCommand(proposal)}.`;

function withdrawCommand({ flowId, topic, action }: Pick<Proposal, 'flowId' | 'topic' | 'action'>): string {
  if (action !== TRUST_EVENT) return `towline withdraw ${shellWord(flowId)}`;
  return `towline events withdraw ${shellWord(topic)} --flow ${shellWord(flowId)}`;
}

function confirmCommand({ flowId, topic, action, choice }: Proposal): string {
  const flow = shellWord(flowId);
  const { eventId, until, trust } = choice;
  if (action === TRUST_EVENT) {
    return `towline events replay ${shellWord(topic)}${trust === undefined ? '' : ' --trust'} --flow ${flow}`;
  }
  if (action === APPROVE_QUOTE) return `towline approve ${flow} --note "why"`;
  const option = (name: string, value: string | undefined) =>
    value === undefined ? '' : ` --${name} ${shellWord(value)}`;
  return `towline resolve ${flow} ${shellWord(action)}${option('event', eventId)}${option('until', until)} --note "why"`;
}

/** The proposals that a flow can have at this moment; undefined: none. */
export function topicOf({ state, stage, parked }: FlowWithMoney): { topic: string; subject: string } | undefined {
  if (parked !== null) return { topic: 'decision', subject: parked.since };
  return state === 'running' && stage === 'awaiting-approval' ? { topic: 'approval', subject: stage } : undefined;
}

/** The open proposal of a flow, or of one of its events, for people. */
export async function proposedOrder(
  { store }: Deps,
  flowId: string,
  waits: ReturnType<typeof topicOf>,
): Promise<ProposedOrder | null> {
  if (waits === undefined) return null;
  const found = await store.proposals.get({ flowId, topic: waits.topic });
  if (found === undefined || found.subject !== waits.subject) return null;
  const { id, action, choice, by, note, at, expiresAt, confirmedBy } = found;
  // Whether an event is to be trusted is in the command.
  const { trust: _trust, ...chosen } = choice;
  const [confirm, withdraw] = [confirmCommand(found), withdrawCommand(found)];
  return { id, action, ...chosen, by, note: note ?? UNREADABLE, at, expiresAt, confirmedBy, confirm, withdraw };
}

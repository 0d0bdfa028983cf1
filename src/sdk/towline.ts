import type { z } from 'zod';
import { type FlowKind, parseFlowId } from '../protocol/vocabulary.js';
import { REFERENCE_PATTERN } from '../contract/sending.js';
import { createCalls, type CallOptions, type Calls } from './request.js';
import {
  type CardWritten,
  type FlowInput,
  type JsonText,
  type PaymentOrder,
  textOf,
  checkedOptions,
  type TowlineOptions,
} from './options.js';
import type { CallbacksJson, CallbackListJson, CallbackSecretsJson } from '../api/callbacks.js';
import type { EventPage, Replay, ReplayBody, ShownEvent, WithdrawBody } from '../api/events.js';
import type { FlowPage, Flow, ServiceAnswers } from '../api/flow.js';
import type { CardToken, ClosedClaims, CloseBody, ErasedFlow, GiveBody, GivenFlow, WhoAmI } from '../api/operations.js';
import type { AuditPage } from '../api/audit.js';
import {
  type AuditQuery,
  type CallbackQuery,
  type EventQuery,
  type ListQuery,
  type OrderOptions,
  type ResolveOrder,
  type WaitOptions,
  waitUntil,
} from './wait.js';
import { InvalidError } from './errors.js';

/**
 * `alreadyStarted`: the same input had started it before, and this start sent nothing. A start after a lost answer also
 * returns this.
 */
export interface StartedFlow extends Flow {
  readonly alreadyStarted: boolean;
}

/**
 * Towline over the gateway's HTTP, for backends. A flow's id is `{kind}/{reference}`.
 *
 * Reads, starts, `cancel`, `pay` and `replay` are retried while the gateway is unavailable (`retryForMs`): one
 * reference is one flow, so a repetition has no further effect. Other orders are retried only if the first request
 * provably did not leave; after any other failure read the flow before you repeat them.
 *
 * Every method throws a `TowlineError` (see errors.ts), or the reason of a signal that was aborted.
 */
export class Towline {
  /** Of the gateway. */
  readonly url: string;
  readonly #calls: Calls;

  /** @throws InvalidError if the options are not valid */
  constructor(options: TowlineOptions) {
    const checked = checkedOptions(options);
    this.url = checked.url;
    this.#calls = createCalls(checked);
  }

  /**
   * Starts a flow, or finds the one that the same input started before: then `alreadyStarted` is true.
   * @throws InvalidError; OtherRequestError if the reference belongs to a flow with another content
   */
  start<Kind extends FlowKind>(
    kind: Kind,
    input: FlowInput<Kind> | JsonText,
    options?: CallOptions,
  ): Promise<StartedFlow> {
    const path = `/flows/${encodeURIComponent(kind)}`;
    return this.#calls.post<StartedFlow>(path, textOf(input), { ...options, isSafe: true, isStart: true });
  }

  /** The current state of the flow. */
  show(flowId: string, options?: CallOptions): Promise<Flow> {
    return this.#calls.get<Flow>(flowPath(flowId), {}, options);
  }

  /** Newest first. A flow that has just changed may be listed as before for a second. */
  list(query: ListQuery = {}, options?: CallOptions): Promise<FlowPage> {
    return this.#calls.get('/flows', query, options);
  }

  /** The flow as soon as it ended or parked; still `running` if the time was up. Survives restarts of the gateway. */
  wait(flowId: string, options: WaitOptions = {}): Promise<Flow> {
    return this.#wait((state) => state !== 'running', flowId, options);
  }

  /** The flow as soon as it ended, however long it is parked before; its current state if the time was up. */
  result(flowId: string, options: WaitOptions = {}): Promise<Flow> {
    return this.#wait((state) => state !== 'running' && state !== 'parked', flowId, options);
  }

  /** The service's answers to the flow's requests: where to send a customer, or what they have to pay. */
  answers(flowId: string, options?: CallOptions): Promise<ServiceAnswers> {
    return this.#calls.get(`${flowPath(flowId)}/answers`, {}, options);
  }

  /** Approves the quote, so that the flow continues with it: money moves then. @throws RefusedError */
  approveQuote(flowId: string, { note, ...options }: OrderOptions = {}): Promise<Flow> {
    return this.#order(flowId, 'approve-quote', { note }, options);
  }

  /** @throws RefusedError once money may have moved */
  cancel(flowId: string, { note, ...options }: OrderOptions = {}): Promise<Flow> {
    return this.#order(flowId, 'cancel', { note }, { ...options, isSafe: true });
  }

  /**
   * Pays the invoice of a flow, once: the same order again changes nothing. @throws RefusedError for a different one
   */
  pay(flowId: string, order: PaymentOrder | JsonText, options?: CallOptions): Promise<Flow> {
    return this.#order(flowId, 'pay', order, { ...options, isSafe: true });
  }

  /** A Lightning invoice (BOLT 11) of the recipient of an offramp's refund. @throws InvalidError, RefusedError */
  provideRefundInvoice(flowId: string, invoice: string, options?: CallOptions): Promise<Flow> {
    return this.#order(flowId, 'refund-invoice', { invoice }, options);
  }

  /**
   * Orders one of the actions that a parked flow lists. Needs an operator's token. If two persons have to order it, the
   * first one gets the flow with its `proposal`, and another person gives the same order. @throws RefusedError
   */
  resolve(flowId: string, order: ResolveOrder, options?: CallOptions): Promise<Flow> {
    return this.#order(flowId, 'resolve', order, options);
  }

  /** A person has seen to what contradicts the flow's end. */
  acknowledge(flowId: string, { note, ...options }: OrderOptions & { readonly note: string }): Promise<Flow> {
    return this.#order(flowId, 'acknowledge', { note }, options);
  }

  /** Withdraws an order that waits for a second person. @throws RefusedError if none does */
  withdraw(flowId: string, { note, ...options }: OrderOptions = {}): Promise<Flow> {
    return this.#order(flowId, 'withdraw', { note }, options);
  }

  /** The name and role of the token, and what it allows. */
  whoAmI(options?: CallOptions): Promise<WhoAmI> {
    return this.#calls.get('/whoami', {}, options);
  }

  /** The audit log, newest first. Needs an admin's token. */
  audit({ flowId, ...query }: AuditQuery = {}, options?: CallOptions): Promise<AuditPage> {
    return this.#calls.get('/audit', { ...query, flow: flowId }, options);
  }

  /**
   * Erases from the store what persons and the service said about a flow that has ended. Needs an admin's token.
   * @throws RefusedError if it has not ended
   */
  erase(flowId: string, { note, ...options }: OrderOptions = {}): Promise<ErasedFlow> {
    return this.#calls.post(`${flowPath(flowId)}/erase`, textOf({ note }), { ...options, isSafe: true });
  }

  /**
   * Closes the claims of a flow that Temporal does not have any more, or that was terminated. Needs an admin's token.
   * @throws RefusedError if it runs, or against proof
   */
  closeClaims(
    flowId: string,
    { as, note, ...options }: CallOptions & z.input<typeof CloseBody>,
  ): Promise<ClosedClaims> {
    return this.#calls.post(`${flowPath(flowId)}/close-claims`, textOf({ as, note }), options);
  }

  /** Gives a flow to another name, which sees and orders it from then on. Needs an admin's token. */
  give(flowId: string, { to, note, ...options }: CallOptions & z.input<typeof GiveBody>): Promise<GivenFlow> {
    return this.#calls.post(`${flowPath(flowId)}/give`, textOf({ to, note }), options);
  }

  /** Received webhooks and callbacks, and their state: of one flow, or all. */
  events({ flowId, ...query }: EventQuery = {}, options?: CallOptions): Promise<EventPage> {
    return this.#calls.get(flowId === undefined ? '/events' : `${flowPath(flowId)}/events`, query, options);
  }

  /** With its body, which may hold personal data. Needs an operator's token. */
  event(id: string, options?: CallOptions): Promise<ShownEvent> {
    return this.#calls.get(`/events/${encodeURIComponent(id)}`, {}, options);
  }

  /**
   * Delivers an event again; `trust` vouches for it, `dryRun` only says what would happen. Needs an operator's token.
   */
  replay(id: string, order: z.input<typeof ReplayBody> = {}, options?: CallOptions): Promise<Replay> {
    const path = `/events/${encodeURIComponent(id)}/replay`;
    return this.#calls.post(path, textOf(order), { ...options, isSafe: true });
  }

  /** Withdraws an order to vouch for an event that waits for a second person. @throws RefusedError if none does */
  withdrawReplay(id: string, order: z.input<typeof WithdrawBody> = {}, options?: CallOptions): Promise<ShownEvent> {
    return this.#calls.post(`/events/${encodeURIComponent(id)}/withdraw`, textOf(order), options);
  }

  /** Flows whose callbacks could not be delivered, or are in progress; and receivers that do not answer. */
  callbacks(query: CallbackQuery = {}, options?: CallOptions): Promise<CallbackListJson> {
    return this.#calls.get('/callbacks', query, options);
  }

  /** How far the callbacks of one flow got. */
  callbacksOf(flowId: string, options?: CallOptions): Promise<CallbacksJson> {
    return this.#calls.get(`${flowPath(flowId)}/callbacks`, {}, options);
  }

  /** What signs the callbacks about the flows of a name: of this token's, unless it is an admin's. */
  callbackSecrets(name?: string, options?: CallOptions): Promise<CallbackSecretsJson> {
    return this.#calls.get('/callbacks/secret', name === undefined ? {} : { name }, options);
  }

  /** Sends the newest callback again, now and under its own id. Needs an operator's token. */
  resendCallback(flowId: string, options?: CallOptions): Promise<CallbacksJson> {
    return this.#calls.post(`${flowPath(flowId)}/callbacks/resend`, '{}', { ...options, isSafe: true });
  }

  /** Keeps a card at the gateway for a minute: its token goes into the input of a `card-deposit`. */
  keepCard(card: CardWritten, options?: CallOptions): Promise<CardToken> {
    return this.#calls.post('/card-tokens', textOf({ card }), { ...options, isSafe: true });
  }

  #order(flowId: string, word: string, order: object, options: CallOptions & { isSafe?: boolean } = {}): Promise<Flow> {
    return this.#calls.post(`${flowPath(flowId)}/${word}`, textOf(order), options);
  }

  #wait(isDone: (state: Flow['state']) => boolean, flowId: string, options: WaitOptions): Promise<Flow> {
    const path = `${flowPath(flowId)}/wait`;
    const poll = (timeoutSeconds: number) => this.#calls.poll<Flow>(path, timeoutSeconds, options);
    return waitUntil(isDone, poll, this.#calls.signals(options), options);
  }
}

/** The path of a flow, by the one grammar, before a URL is built from it. @throws InvalidError */
function flowPath(flowId: string): string {
  const id = parseFlowId(flowId);
  if (id !== undefined && REFERENCE_PATTERN.test(id.reference)) return `/flows/${flowId}`;
  throw new InvalidError('The flow id names no flow: it must be kind/reference, such as bridge-transfer/order-1001.');
}

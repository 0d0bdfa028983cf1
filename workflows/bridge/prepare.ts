import { condition } from '@temporalio/workflow';
import type { BridgePreparation, Quote } from '../../activities/types.js';
import { compareAmounts, toMsat, withinBps } from '../../src/money.js';
import { UPDATES } from '../../src/protocol/vocabulary.js';
import { admit } from '../engine/admit.js';
import type { Flow } from '../engine/flow.js';
import { act, checkAtOnce, preparationOf } from '../engine/activities.js';
import { approveQuoteUpdate } from '../engine/messages.js';
import { READ } from '../engine/policies.js';
import { checkOrder, onUpdate, orderRefused } from '../engine/park.js';
import { unlessStopped } from '../engine/stop.js';
import { NO_EVIDENCE } from '../engine/event-book.js';
import { NOTHING_SEEN } from './statuses.js';
import { depositClaim, type Transfer, type TimedQuote } from './transfer.js';

/**
 * Checks the input and gets the first quote: one step, since nothing has moved yet. It may run twice, and then the flow
 * has the later quote.
 */
export async function prepareTransfer(flow: Flow, rawInput: unknown): Promise<Transfer> {
  const askedAtMs = Date.now();
  const prepared = await unlessStopped(flow, () => prepare(flow, rawInput));
  flow.handlePlaintext(prepared.allowPlaintext);
  flow.keepFingerprint(prepared.fingerprint);
  const quote = { ...prepared.quote, quotedAtMs: askedAtMs };
  flow.terms = prepared.terms ?? null;
  showQuote(flow, quote);
  flow.note('quoted', quoteInWords(quote));
  const transfer: Transfer = {
    input: prepared.input,
    fingerprint: prepared.fingerprint,
    pin: prepared.pin,
    windows: prepared.windows,
    fixed: prepared.fixed,
    quote,
    agreed: prepared.quote,
    deposit: null,
    ...NO_EVIDENCE,
    statuses: NOTHING_SEEN,
    failure: null,
    cameIn: {},
    theirRefund: {},
    completion: {},
    ownRefund: null,
    failedAtMs: null,
    toReport: null,
    serviceKnows: NOTHING_SEEN,
  };
  // From here on the claim shows whether anything was sent, also by an earlier run that was reset in the UI.
  flow.money = { at: 'claimed', claim: depositClaim(flow, transfer), isWaiting: true };
  return transfer;
}

function prepare(flow: Flow, rawInput: unknown): Promise<BridgePreparation> {
  const order = preparationOf(flow, rawInput);
  // Bounded by the deadline, by unlessStopped around it.
  return checkAtOnce('prepareBridgeTransfer', order, () =>
    act(READ, 'Check the input, get a quote', flow.timeScale).prepareBridgeTransfer(order),
  );
}

/** Waits for the approval of the quote, if the input asks for one. The deadline ends the flow with nothing moved. */
export async function quoteApproved(flow: Flow, transfer: Transfer): Promise<void> {
  const approval = { by: null as string | null, isTaken: false };
  const isOver = () => flow.deadlinePassed || flow.parked !== null || flow.view().outcome !== null;
  const isAwaited = () => transfer.input.approval !== 'none' && approval.by === null && !isOver();
  onUpdate(
    flow,
    approveQuoteUpdate,
    async (order): Promise<{ approved: true }> => {
      const asked = { update: UPDATES.approveQuote, action: 'approve-quote', input: transfer.input };
      const { actor } = await admit(flow, asked, order);
      if (!isAwaited()) throw orderRefused('approval_not_awaited', NOT_AWAITED);
      approval.by = actor;
      // The deadline may come at this moment.
      // Bounded by the flow, which takes it, parks or ends.
      await condition(() => approval.isTaken || flow.parked !== null || flow.view().outcome !== null);
      if (!approval.isTaken) throw orderRefused('flow_stopped', 'The flow was stopped before it took the approval.');
      return { approved: true };
    },
    (order) => {
      checkOrder(order);
      if (!isAwaited()) throw orderRefused('approval_not_awaited', NOT_AWAITED);
    },
  );
  if (transfer.input.approval === 'none') return;
  flow.enter('awaiting-approval', 'awaiting-approval', 'waiting for the approval of the quote (approve-quote)');
  // Bounded by the deadline, by unlessStopped around it.
  await unlessStopped(flow, () => condition(() => approval.by !== null));
  approval.isTaken = true;
  flow.note('quote-approved', 'quote approved', approval.by ?? 'flow');
}

const NOT_AWAITED = 'The flow waits for no approval of a quote.';

/**
 * Why a new quote is worse than the agreed one by more than the limit, as a sentence; null if it is not. Amounts are
 * compared in one unit: a quote whose unit cannot be converted counts as none.
 */
export function whyWorse(agreed: Quote, offered: Quote, limitBps: number): string | null {
  if (agreed.cryptoAmount === null || offered.cryptoAmount === null) return 'The new quote names no amount';
  const [ours, theirs] = inOneUnit(agreed, offered) ?? [];
  const offer = `The new quote (${inWords(offered)})`;
  if (ours === undefined || theirs === undefined) return `${offer} is in another unit than ${inWords(agreed)}`;
  if (compareAmounts(theirs, ours) >= 0 || withinBps(theirs, limitBps, ours)) return null;
  return `${offer} is worse than ${inWords(agreed)} by more than ${limitBps / 100} %`;
}

function inOneUnit(one: Quote, other: Quote): readonly [string, string] | undefined {
  const [unit, another] = [one.cryptoUnit, other.cryptoUnit];
  if (unit === another) return [one.cryptoAmount ?? '0', other.cryptoAmount ?? '0'];
  const ours = toMsat(one.cryptoAmount ?? '0', unit ?? '');
  const theirs = toMsat(other.cryptoAmount ?? '0', another ?? '');
  return ours === null || theirs === null ? undefined : [ours, theirs];
}

/** Digits of a rate that a person compares; it is never calculated with. */
const RATE_DIGITS = 8;

export function showQuote(flow: Flow, { rateId, cryptoAmount, cryptoUnit, fee, lifeMs, quotedAtMs }: TimedQuote): void {
  if (flow.terms === null) return;
  const { amount, currency } = flow.terms.sends;
  const gives = cryptoAmount === null ? null : { amount: cryptoAmount, currency: cryptoUnit ?? '' };
  const rate = Number(amount) / Number(cryptoAmount);
  flow.terms = {
    ...flow.terms,
    quote: {
      id: rateId,
      gives,
      rate: Number.isFinite(rate)
        ? `${Number(rate.toPrecision(RATE_DIGITS))} ${currency} per ${cryptoUnit ?? ''}`
        : null,
      fee: fee ?? null,
      expiresAt: new Date(quotedAtMs + lifeMs).toISOString(),
    },
  };
}

export function quoteInWords(quote: TimedQuote): string {
  return `quote ${quote.rateId}${quote.cryptoAmount === null ? '' : `: ${inWords(quote)}`}`;
}

const inWords = ({ cryptoAmount, cryptoUnit }: Quote) => `${cryptoAmount} ${cryptoUnit ?? ''}`.trimEnd();

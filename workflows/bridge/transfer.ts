import type { BridgeDepositAnswer, Facts, Pin } from '../../activities/types.js';
import type { BridgeDeposit } from '../../src/contract/bridge.js';
import type { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import { ENDINGS, endStep, type EndEvidence, type EndStep } from '../../src/protocol/decisions.js';
import { amountIn, isUnread, UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import { readCode } from '../../src/readers/code.js';
import { readHash } from '../../src/readers/hash.js';
import { readReference } from '../../src/readers/reference.js';
import { durationMs } from '../../src/readers/time.js';
import { LONGEST_REFUND_LIFE_MS, UNREAD_REFUND_LIFE_MS } from '../engine/policies.js';
import type { Known } from '../engine/known.js';
import type { Said, View } from '../engine/plan.js';
import { mostToRefund, smallest } from './came-in.js';
import { factsTogether, fundsHeld, refundBegun, saysPaid, theirRefundIn } from './refund-due.js';
import {
  asBridgeStatus,
  bridgeStateOf,
  endingsSeen,
  foldStatus,
  isEnding,
  NOTHING_SEEN,
  rises,
  type SeenStatuses,
} from './statuses.js';

/** What follows about a transfer from its deposit's answer and from what events say of it. */
export interface Transfer {
  readonly input: BridgeTransferInput;
  readonly pin: Pin;
  readonly flowId: string;
  readonly reference: string;
  /** Null until the deposit's answer is known; stays null if only events proved it. */
  readonly deposit: BridgeDepositAnswer | null;
  /** By trusted or accepted events. */
  readonly statuses: SeenStatuses;
  /** The first FAILED of them, with the facts of all, for the refund. */
  readonly failure: FlowEvent | null;
  /** When that came, ms. */
  readonly failedAtMs: number | null;
  /**
   * The smallest amounts of crypto in them, as decimal strings: no more is sent back. And when it came in, if one of them
   * says that.
   */
  readonly cameIn: Facts;
  /** What they say of the service's own refund. */
  readonly theirRefund: Facts;
  /** The facts of COMPLETED. */
  readonly completion: Facts;
  /**
   * The provider's ending that the service does not know; the highest one. A status on the way is not reported: an attempt
   * to report it can reach the service after the ending, and would set it back.
   */
  readonly toReport: FlowEvent | null;
  /** Events that nothing corroborates. */
  readonly unverified: readonly FlowEvent[];
}

export const inputOf = ({ prepared }: Known): BridgeTransferInput => prepared?.input as BridgeTransferInput;

const answerIn = ({ requests }: Known): BridgeDeposit | undefined =>
  (requests['deposit']?.shown.answer ?? undefined) as BridgeDeposit | undefined;

/** Of a view of the deposit: events are about that. */
export function transferOf({ known, ours, claimed }: Pick<View, 'known' | 'ours' | 'claimed'>): Transfer {
  const answer = answerIn(known);
  const terms = known.prepared?.steps['deposit'];
  return {
    ...saidOf(statementsOf(known, ours), known.transfer?.reported ?? []),
    input: inputOf(known),
    pin: terms?.claim.pin ?? { store: '', account: '', epoch: 0 },
    flowId: terms?.claim.flowId ?? '',
    reference: terms?.claim.reference ?? '',
    deposit: answer === undefined ? null : depositAnswerOf(answer),
    unverified: claimed.map(({ of }) => of.event),
  };
}

interface Statement {
  readonly event: FlowEvent;
  readonly atMs: number;
}

/** Trusted events, and what the lookup has shown: that says as much, and in the service's own name. */
function statementsOf({ transfer }: Known, ours: readonly Said[]): readonly Statement[] {
  const { looked = [] } = transfer ?? {};
  const events = ours.map(({ of }): Statement => of);
  if (looked.length === 0) return events;
  const records = looked.map(({ status, facts, atMs }): Statement => ({ event: { ...A_RECORD, status, facts }, atMs }));
  return [...events, ...records].toSorted((one, other) => one.atMs - other.atMs);
}

const A_RECORD = { id: '', source: 'callback', trusted: true, proof: null, receivedAt: '' } as const;

type SaidByEvents = Omit<Transfer, 'input' | 'pin' | 'flowId' | 'reference' | 'deposit' | 'unverified'>;

/** Everything that these say together, in whatever order they came. */
export function saidOf(events: readonly Statement[], reported: readonly string[]): SaidByEvents {
  const status = ({ event }: Statement) => asBridgeStatus(event.status);
  const fold = (seen: SeenStatuses, word: string | null): SeenStatuses => {
    const known = asBridgeStatus(word);
    return known === undefined ? seen : foldStatus(seen, known);
  };
  const byService = events.filter(({ event }) => event.source !== 'settlement');
  const serviceKnows = [...byService.map(({ event }) => event.status), ...reported].reduce(fold, NOTHING_SEEN);
  const failures = events.filter((one) => status(one) === 'FAILED');
  const [first] = failures;
  return {
    statuses: events.map(({ event }) => event.status).reduce(fold, NOTHING_SEEN),
    failure:
      first === undefined
        ? null
        : { ...first.event, facts: failures.map(({ event }) => event.facts).reduce(factsTogether, {}) },
    failedAtMs: first?.atMs ?? null,
    cameIn: events.map(({ event }) => event.facts).reduce(smallest, {}),
    theirRefund: events
      .map(({ event }) => theirRefundIn(event))
      .filter((facts) => Object.keys(facts).length > 0)
      .reduce(factsTogether, {}),
    completion: events
      .filter((one) => status(one) === 'COMPLETED')
      .reduce<Facts>((known, { event }) => ({ ...event.facts, ...known }), {}),
    toReport: highestOf(events.map(({ event }) => event).filter((event) => isUnreported(event, serviceKnows))),
  };
}

function isUnreported({ source, status }: FlowEvent, serviceKnows: SeenStatuses): boolean {
  const word = asBridgeStatus(status);
  return source === 'settlement' && word !== undefined && isEnding(word) && rises(serviceKnows, word);
}

function highestOf(events: readonly FlowEvent[]): FlowEvent | null {
  return events.reduce<FlowEvent | null>((highest, event) => {
    const [before, word] = [asBridgeStatus(highest?.status ?? null), asBridgeStatus(event.status)];
    if (before === undefined || word === undefined) return highest ?? event;
    return foldStatus(foldStatus(NOTHING_SEEN, before), word).seen.at(-1) === word && word !== before ? event : highest;
  }, null);
}

/** Everything that is known about the ending of a transfer. */
export function endEvidence(transfer: Transfer): EndEvidence {
  const claims = transfer.unverified.flatMap(claimsOf);
  return {
    proven: endingsSeen(transfer.statuses),
    claimed: ENDINGS.filter((ending) => claims.includes(ending.toUpperCase())),
    fundsHeld: fundsHeld(transfer),
  };
}

export const endStepOf = (transfer: Transfer): EndStep => endStep(endEvidence(transfer));

/** An event that says that the service's own refund has begun claims that, too. */
function claimsOf(event: FlowEvent): readonly string[] {
  const word = event.status ?? '';
  return refundBegun(theirRefundIn(event)) ? [word, 'REFUNDED'] : [word];
}

export const theirsBegun = ({ theirRefund }: Transfer): boolean => refundBegun(theirRefund);

/** What an untrusted event says besides its ending against what we would do by ourselves, and no trusted one says. */
export function claimsMore(known: Known, ours: readonly Said[]): (event: FlowEvent) => boolean {
  const input = inputOf(known);
  const said = saidOf(statementsOf(known, ours), []);
  const most = mostToRefund(input, said.cameIn);
  const isHeld = fundsHeld({ ...said, unverified: [] }) === 'shown';
  return (event) =>
    isUnread(event.facts) ||
    (refundBegun(theirRefundIn(event)) && !refundBegun(said.theirRefund)) ||
    (saysPaid(event) && !isHeld) ||
    mostToRefund(input, smallest(said.cameIn, event.facts)) !== most;
}

/** By the service or the provider. */
export function isRefunded({ statuses }: Pick<Transfer, 'statuses'>): boolean {
  const now = bridgeStateOf(statuses);
  return now.kind === 'ended' && now.ending === 'REFUNDED';
}

/** A person may have accepted a COMPLETED of another amount: then the sentence names the figures. */
export function whatArrived({ input, completion }: Pick<Transfer, 'input' | 'completion'>): string {
  const { amount, currency } = input.settlement;
  // A bare amount is the recipient's if it is in that currency, and the customer pays in another one.
  const isBare = completion['currency'] === currency && input.source_currency !== currency;
  const arrived = completion['settlementAmount'] ?? (isBare ? completion['amount'] : undefined) ?? amount;
  const paidIn = completion['settlementCurrency'] ?? currency;
  if (paidIn === currency && arrived === amount) return 'The recipient was paid.';
  const figures =
    paidIn === currency ? `${arrived} of ${amount} ${currency}` : `${arrived} ${paidIn}, not ${amount} ${currency}`;
  return `The recipient was paid ${figures}.`;
}

/** What we know about a transfer, in the words of an event's facts. */
export function knownFacts(
  input: BridgeTransferInput,
  deposit: { serviceReference: string | null; paymentHash: string | null },
): Facts {
  const facts: Record<string, string> = {
    chain: input.chain,
    token: input.token,
    settlementAmount: input.settlement.amount,
    settlementCurrency: input.settlement.currency,
  };
  const serviceReference = readReference(deposit.serviceReference);
  const paymentHash = readHash(input.crypto_payment.payment_hash ?? deposit.paymentHash);
  if (serviceReference !== undefined) facts['serviceReference'] = serviceReference;
  if (paymentHash !== undefined) facts['paymentHash'] = paymentHash;
  if (input.crypto_payment.crypto_amount !== undefined) facts['cryptoAmount'] = input.crypto_payment.crypto_amount;
  if (input.crypto_payment.amount_msat !== undefined) facts['amountMsat'] = input.crypto_payment.amount_msat;
  return facts;
}

export function factsOfDeposit(known: Known): Facts {
  const answer = answerIn(known);
  const deposit = { serviceReference: answer?.kotani_reference_id ?? null, paymentHash: answer?.payment_hash ?? null };
  return knownFacts(inputOf(known), deposit);
}

/** The same of a looked-up record, which names more. */
export function factsOfRecord(known: Known): Facts {
  const { amount, source_currency: currency, settlement, provider_reference_id: ourReference } = inputOf(known);
  const isOneCurrency = currency === settlement.currency;
  const amounts = { [amountIn(currency)]: amount, [amountIn(settlement.currency)]: settlement.amount };
  return { ...factsOfDeposit(known), ...(isOneCurrency ? {} : amounts), ourReference };
}

/**
 * An event's bare `amount` and `currency` may mean the fiat that the customer pays or the fiat that the recipient gets:
 * they are compared with the side whose currency they name, and with neither if both sides have that currency.
 */
export function amountDiffers(input: BridgeTransferInput, facts: Facts): boolean {
  const { amount, currency } = facts;
  if (amount === undefined || currency === undefined) return false;
  if (currency === UNREADABLE) return true;
  const candidates = [
    ...(currency === input.source_currency ? [input.amount] : []),
    ...(currency === input.settlement.currency ? [input.settlement.amount] : []),
  ];
  return candidates.length > 0 && !candidates.includes(amount);
}

/** The members of the service's answer to a deposit that the flow needs. Missing members are null. */
export function depositAnswerOf(data: BridgeDeposit): BridgeDepositAnswer {
  const refund = data.refund_config;
  return {
    serviceReference: data.kotani_reference_id,
    status: data.status,
    paymentHash: data.payment_hash ?? null,
    refund:
      refund == null
        ? null
        : {
            method: codeIn(refund.primary_method),
            fallbackMethod: codeIn(refund.fallback_method),
            fallbackAddress: refund.fallback_address?.trim() ?? null,
            chain: codeIn(refund.chain),
            token: codeIn(refund.token),
            cryptoAmount: refund.refund_crypto_amount ?? null,
            lifeMs: refundLifeMs(data.created_at, refund.expires_at),
          },
  };
}

/** Null if the answer has none; what it has and cannot be read is none of ours. */
const codeIn = (said: string | null | undefined): string | null =>
  said == null || said.trim() === '' ? null : (readCode(said) ?? UNREADABLE);

/**
 * A duration between two timestamps of the service's clock: ours does not matter. Null if the service names no end; one
 * that cannot be read may be far away.
 */
export function refundLifeMs(created: string | null | undefined, expires: string | null | undefined): number | null {
  if (expires === undefined || expires === null || expires === '') return null;
  const lifeMs = durationMs(created, expires) ?? 0;
  return lifeMs > 0 ? Math.min(lifeMs, LONGEST_REFUND_LIFE_MS) : UNREAD_REFUND_LIFE_MS;
}

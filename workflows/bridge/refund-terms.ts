import type { Facts, RefundOrder } from '../../activities/types.js';
import { CHAINS, TOKENS } from '../../src/contract/vocabulary.js';
import type { Cause } from '../../src/protocol/causes.js';
import { checkAmount, compareAmounts } from '../../src/money.js';
import { isUnread, UNREADABLE, type FlowEvent } from '../../src/protocol/messages.js';
import { plainAddress } from '../../src/readers/hash.js';
import { refundReferenceOf } from '../../src/protocol/vocabulary.js';
import { mostToRefund, smallest, wantedOf } from './came-in.js';
import type { Transfer } from './transfer.js';

/** A refund that is yet to be ordered. */
export type RefundTerms = Omit<RefundOrder, 'by' | 'reviewedEventIds'>;

/**
 * The terms of a refund by `sendCrypto`, or why there can be none. We send back no more than what
 * came in, only in the same token on the same chain, and only to an address of that chain.
 */
export function refundTerms(transfer: Transfer): RefundTerms | Cause {
  const refund = transfer.deposit?.refund;
  if (refund == null || refund.fallbackAddress === null || refund.cryptoAmount === null) {
    const text = "the refund terms are not known: the deposit's answer was lost, or they name no address and amount";
    return { code: 'refund_terms_unknown', text };
  }
  if (refund.chain === null || refund.token === null) {
    return { code: 'refund_terms_unreadable', text: 'the refund terms name no chain or token that can be read' };
  }
  const order: RefundTerms = {
    flowId: transfer.flowId,
    pin: transfer.pin,
    reference: refundReferenceOf(transfer.reference),
    receiverAddress: refund.fallbackAddress,
    chain: refund.chain,
    token: refund.token,
    cryptoAmount: refund.cryptoAmount,
  };
  const fault = faultOf(order) ?? otherThanPaidIn(order, transfer) ?? otherMethod(refund);
  if (fault !== undefined) return notSendable(fault);
  const most = mostToRefund(transfer.input, transfer.cameIn);
  if (most === null) {
    const text =
      'the refund cannot be sent by us: an event says that less was paid in, or an amount that cannot be read';
    return { code: 'amount_unreadable', text };
  }
  const capped = compareAmounts(most, order.cryptoAmount) < 0 ? { ...order, cryptoAmount: most } : order;
  const stillFault = faultOf(capped);
  return stillFault === undefined ? capped : notSendable(stillFault);
}

const notSendable = (fault: string): Cause => ({
  code: 'refund_not_sendable',
  text: `the refund cannot be sent by us: ${fault}`,
});

/** What the service's record of the refund must match. */
export const sentFacts = ({ cryptoAmount, receiverAddress, chain, token }: RefundTerms): Facts => ({
  cryptoAmount,
  receiverAddress: plainAddress(receiverAddress),
  chain,
  token,
});

/**
 * Why only a person may decide how much goes back; null if no event, trusted or not, says that less came in than was
 * asked for, or something else.
 */
export function otherCameIn({ input, cameIn, unverified }: Transfer): Cause | null {
  const wanted = wantedOf(input);
  const most = mostToRefund(input, cameIn);
  if (isUnread(cameIn)) return { code: 'accepted_event_unread', text: 'an accepted event cannot be read in full' };
  if (most !== null && wanted !== undefined && compareAmounts(most, wanted) < 0) {
    const said = `an event says ${most} ${input.token}, and ${wanted} was to come in`;
    return { code: 'less_came_in', text: `${said}: no more than that is sent back` };
  }
  const isInPart = ({ facts }: FlowEvent) => isUnread(facts) || [facts['chain'], facts['token']].includes(UNREADABLE);
  if (unverified.some(isInPart)) {
    return { code: 'unverified_event_unread', text: 'an unverified event cannot be read in full' };
  }
  const other = unverified.flatMap(({ facts }) => [
    ...('token' in facts && facts['token'] !== input.token ? [facts['token']] : []),
    ...('chain' in facts && facts['chain'] !== input.chain ? [`something on ${facts['chain']}`] : []),
  ])[0];
  if (other !== undefined) {
    return { code: 'other_came_in', text: `an unverified event says that ${other} came in` };
  }
  const claimed = unverified.reduce((known, { facts }) => smallest(known, facts), cameIn);
  const least = mostToRefund(input, claimed);
  if (least === most) return null;
  if (least === null) {
    const text = 'an unverified event says how much came in, and that cannot be read or compared';
    return { code: 'unverified_amount_unread', text };
  }
  const text = `an unverified event says that ${least} ${input.token} came in, and ${wanted} was to come in`;
  return { code: 'less_came_in', text };
}

/** A bridge supports chains and tokens that a crypto send does not. */
function faultOf({ receiverAddress, chain, token, cryptoAmount }: RefundTerms): string | undefined {
  if (!CHAINS.some((known) => known === chain)) return `crypto cannot be sent on ${chain || 'a chain without a name'}`;
  if (!TOKENS.some((known) => known === token)) return `${token || 'a token without a name'} cannot be sent`;
  if (receiverAddress === '') return 'its address is empty';
  const unfit = checkAmount(cryptoAmount, token);
  return unfit === undefined ? undefined : `its amount is ${cryptoAmount}. ${unfit}`;
}

function otherThanPaidIn({ chain, token, cryptoAmount }: RefundTerms, { input }: Transfer): string | undefined {
  if (input.token !== token) return `${input.token} was paid in, and the refund is in ${token}`;
  if (input.chain !== chain) return `it was paid in on ${input.chain}, and the refund is on ${chain}`;
  const cameIn = wantedOf(input);
  if (cameIn === undefined) return 'how much was paid in is not known';
  if (compareAmounts(cryptoAmount, cameIn) <= 0) return undefined;
  return `${cameIn} ${token} was paid in, and the refund is ${cryptoAmount}`;
}

/** The address belongs to the fallback method, chain and token to the primary one: they must be of the same sort. */
function otherMethod({ method, fallbackMethod }: { method: string | null; fallbackMethod: string | null }) {
  const isSame = fallbackMethod !== null && fallbackMethod !== UNREADABLE && fallbackMethod === method;
  if (isSame || (fallbackMethod === null && /ADDRESS|WALLET/.test(method ?? ''))) return undefined;
  return `the amount is for "${method ?? 'no method'}", and the address for "${fallbackMethod ?? 'no method'}"`;
}

import { patched } from '@temporalio/workflow';
import type { RefundOrder } from '../../activities/bridge-terms.js';
import { CHAINS, TOKENS } from '../../src/contract/vocabulary.js';
import { SENDABLE_PATCH } from '../../src/flows/vocabulary.js';
import { isPositiveAmount } from '../../src/money.js';
import type { Flow } from '../steps/flow.js';
import type { Transfer } from './transfer.js';

const REFUND_SUFFIX = '.refund';

/** What a refund by `sendCrypto` would be, or a sentence that says why there can be none. */
export function refundTerms(flow: Flow, transfer: Transfer): RefundOrder | string {
  const refund = transfer.deposit?.refund;
  const { chain, token } = transfer.input;
  if (refund == null || refund.fallbackAddress === null || refund.cryptoAmount === null) {
    return "the refund terms are not known: the deposit's answer was lost, or they name no address and amount";
  }
  const order: RefundOrder = {
    flowId: flow.flowId,
    reference: flow.reference + REFUND_SUFFIX,
    receiverAddress: refund.fallbackAddress.trim(),
    // The answer's words are free text.
    chain: (refund.chain ?? chain).trim().toUpperCase(),
    token: (refund.token ?? token).trim().toUpperCase(),
    cryptoAmount: refund.cryptoAmount,
  };
  const fault = faultOf(order);
  return fault !== undefined && patched(SENDABLE_PATCH) ? `the refund cannot be sent by us: ${fault}` : order;
}

/** A bridge knows chains and tokens that a crypto send does not. */
function faultOf({ receiverAddress, chain, token, cryptoAmount }: RefundOrder): string | undefined {
  if (!CHAINS.some((known) => known === chain)) return `crypto cannot be sent on ${chain || 'a chain without a name'}`;
  if (!TOKENS.some((known) => known === token)) return `${token || 'a token without a name'} cannot be sent`;
  if (receiverAddress === '') return 'its address is empty';
  return isAboveZero(cryptoAmount) ? undefined : `its amount is ${cryptoAmount}`;
}

function isAboveZero(amount: string): boolean {
  try {
    return isPositiveAmount(amount);
  } catch {
    return false;
  }
}

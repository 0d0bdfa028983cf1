import type { operations, OperationName } from '../../contract/index.js';
import {
  CHECKOUT_WORDS,
  KYC_WORDS,
  OFFRAMP_WORDS,
  ONRAMP_WORDS,
  PAYMENT_WORDS,
  type StatusMap,
} from '../../protocol/statuses.js';
import type { FlowKind, FlowState } from '../../protocol/vocabulary.js';

/** What is read by a path of its own, and changes nothing. */
export type ReadName = {
  [N in OperationName]: (typeof operations)[N]['effect'] extends 'read' ? N : never;
}[OperationName];

/** A read of the service that is about a flow of ours, and what that flow can say where the service cannot. */
export interface FlowRead {
  readonly kind: FlowKind;
  /** Asked where there is no flow of that kind under this reference. */
  readonly orKind?: FlowKind;
  /** Of the record's status, as the kind reads it. */
  readonly words: StatusMap;
  /** The POST whose answer is a record of the same shape. */
  readonly recordOf?: OperationName;
  /** Members that say so, of a flow in that state. Undefined: only the service knows. */
  said(state: FlowState, reference: string): Readonly<Record<string, unknown>> | undefined;
}

/** The words of the interface, and of the live service where the interface shows none. */
const PENDING: Readonly<Partial<Record<FlowState, string>>> = { running: 'PENDING', parked: 'PENDING' };

const byStatus =
  (member: string, words: Readonly<Partial<Record<FlowState, string>>>): FlowRead['said'] =>
  (state, reference) => {
    const status = { ...PENDING, ...words }[state];
    return status === undefined ? undefined : { [member]: reference, status };
  };

const legs: FlowRead['said'] = (state, reference) => {
  const leg = byStatus('reference_id', { completed: 'SUCCESSFUL' })(state, reference);
  if (leg === undefined) return undefined;
  return { mobile_money: leg, onchain: { ...leg, crypto_received_status: leg['status'] } };
};

export const FLOW_READS = {
  getCryptoSend: {
    kind: 'crypto-send',
    words: PAYMENT_WORDS,
    recordOf: 'sendCrypto',
    said: byStatus('referenceId', { completed: 'SUCCESS', refunded: 'REVERSED' }),
  },
  getOfframp: {
    kind: 'offramp',
    words: OFFRAMP_WORDS,
    recordOf: 'createOfframp',
    said: byStatus('referenceId', { completed: 'SUCCESS', refunded: 'REFUNDED' }),
  },
  getInvoicePayment: {
    kind: 'invoice-payment',
    words: CHECKOUT_WORDS,
    recordOf: 'payInvoice',
    said: byStatus('referenceId', { completed: 'SUCCESSFUL', refunded: 'REVERSED' }),
  },
  // An invoice has no status: what is in it, only the service knows.
  getInvoice: { kind: 'invoice-payment', words: {}, said: () => undefined },
  getMobileMoneyDeposit: {
    kind: 'onramp',
    orKind: 'mobile-money-watch',
    words: PAYMENT_WORDS,
    said: byStatus('reference_id', { completed: 'SUCCESSFUL' }),
  },
  getOnChainDeposit: { kind: 'onramp', words: ONRAMP_WORDS, said: legs },
  getKycStatus: {
    kind: 'kyc-check',
    words: KYC_WORDS,
    said: (state, kycId) => (state === 'completed' ? { kycId, status: 'APPROVED', kycStatus: true } : undefined),
  },
} as const satisfies Record<ReadName, FlowRead>;

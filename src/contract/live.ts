import { z } from 'zod';
import { BridgeRefundConfig } from './bridge.js';
import { defineOperation, type Operation } from './operation.js';
import { amount, numberAsText, record, text, timestamp, word } from './reading.js';
import { decimalNumber, reference, timestampToSend } from './sending.js';
import { BRIDGE_STATUSES, DEPOSIT_STATUSES } from './vocabulary.js';

/*
 * Operations that the live service has and the interface lacks (`SERVICE_PROFILE`), as far as flows use them: an onramp has lookups of the interface. No contract describes their answers:
 * only the status is required of a record, and the reference counts where it is surely ours.
 */

export const BankWithdrawalRecord = record(
  {
    id: text(),
    referenceId: text(),
    referenceNumber: numberAsText(),
    status: word(DEPOSIT_STATUSES),
    amount: amount(),
    currency: text(),
    bankCode: text(),
  },
  ['status'],
);

export const CardDepositRecord = record(
  {
    id: text(),
    reference_id: text(),
    reference_number: numberAsText(),
    customer_key: text(),
    status: word(DEPOSIT_STATUSES),
    amount: amount(),
    currency: text(),
  },
  ['status'],
);

/** With the members of the answer to its creation, so that it can stand in the place of one that was lost. */
export const BridgeDepositRecord = record(
  {
    kotani_reference_id: text(),
    provider_reference_id: text(),
    status: word(BRIDGE_STATUSES),
    amount: amount(),
    currency: text(),
    chain: text(),
    token: text(),
    payment_hash: text(),
    refund_config: BridgeRefundConfig,
    created_at: timestamp(),
  },
  ['kotani_reference_id', 'status'],
);

/** The members are those by which a bridge deposit names an invoice: those of this operation are not shown. */
export const RefundInvoiceRequest = z.strictObject({
  referenceId: reference(),
  bolt11: z.string().min(1),
  payment_hash: z.string().min(1).optional(),
  amount_msat: decimalNumber().optional(),
  expires_at: timestampToSend().optional(),
});
export type RefundInvoiceRequest = z.infer<typeof RefundInvoiceRequest>;

export const RefundInvoiceAnswer = record({ referenceId: text(), message: text() }, []);

const getBankWithdrawal = defineOperation({
  name: 'getBankWithdrawal',
  method: 'GET',
  path: '/api/v3/withdraw/status/{reference_id}',
  param: 'reference_id',
  auth: 'bearer',
  effect: 'read',
  data: BankWithdrawalRecord,
  summary: 'Reads the status of a withdrawal.',
  section: 'Withdrawal',
});

const getCardDeposit = defineOperation({
  name: 'getCardDeposit',
  method: 'GET',
  path: '/api/v3/deposit/card/{reference_id}',
  param: 'reference_id',
  auth: 'bearer',
  effect: 'read',
  data: CardDepositRecord,
  summary: 'Reads the status of a card deposit.',
  section: 'Deposits',
});

/** Its documentation names the service's own reference here; that it takes the caller's, too, is not said. */
const getBridgeDeposit = defineOperation({
  name: 'getBridgeDeposit',
  method: 'GET',
  path: '/api/v3/deposit/crypto-bridge/status/{kotani_reference_id}',
  param: 'kotani_reference_id',
  auth: 'bearer',
  effect: 'read',
  data: BridgeDepositRecord,
  summary: 'Reads the status of a bridge deposit.',
  section: 'Crypto bridge',
});

const submitRefundInvoice = defineOperation({
  name: 'submitRefundInvoice',
  method: 'POST',
  path: '/api/v3/offramp/submit-refund-invoice/{referenceId}',
  param: 'referenceId',
  auth: 'bearer',
  effect: 'account',
  reference: 'referenceId',
  body: RefundInvoiceRequest,
  data: RefundInvoiceAnswer,
  summary: 'Hands over the invoice to which the refund of an offramp over Lightning is paid.',
  section: 'Offramp',
});

export const liveOperations = {
  getBankWithdrawal,
  getCardDeposit,
  getBridgeDeposit,
  submitRefundInvoice,
} as const satisfies Record<string, Operation>;

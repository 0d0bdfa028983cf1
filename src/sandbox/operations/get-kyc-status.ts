import { KYC, KYC_IDS, kycRecord, UNKNOWN_KYC_WORD } from '../account/kyc.js';
import { unknownReference } from '../refusal.js';
import type { Scenarios } from '../scenarios.js';
import type { Carrier } from '../transactions/carrier.js';
import type { Transaction } from '../transactions/transaction.js';
import type { Transactions } from '../transactions/transactions.js';
import type { Words } from '../transactions/words.js';
import type { Handler } from './handler.js';

/** The first look at an id begins its story; nothing of the interface makes a KYC record. */
export function createGetKycStatus(deps: {
  transactions: Transactions;
  carrier: Carrier;
  scenarios: Scenarios;
  wordFor: Words;
  createId: () => string;
}): Handler<'getKycStatus'> {
  const { transactions, carrier, scenarios, wordFor, createId } = deps;

  function begin(kycId: string): Transaction {
    const ending = endingOf(kycId);
    const id = `${KYC.idPrefix}-${createId()}`;
    const { operation, lifecycle } = KYC;
    const record = { id, operation, reference: kycId, status: lifecycle.initial, ending, body: { kycId }, figures: {} };
    carrier.begin(transactions.add({ ...record, executionId: 0 }));
    if (ending.startsWith('kyc-already')) carrier.apply(id, { kind: 'time', from: lifecycle.initial });
    return transactions.get(id) as Transaction;
  }

  function endingOf(kycId: string): string {
    const scenario = scenarios.get(kycId, KYC.operation)?.ending;
    if (scenario !== undefined && Object.hasOwn(KYC.lifecycle.endings, scenario)) return scenario;
    return KYC_IDS.find(([word]) => kycId.includes(word))?.[1] ?? 'completed';
  }

  return ({ param }) => {
    const [known] = transactions.ofReference(param, KYC.operation);
    if (known === undefined && param.includes(UNKNOWN_KYC_WORD)) return unknownReference('KYC record', param);
    const record = known ?? begin(param);
    return { message: 'KYC record found', data: kycRecord(record, wordFor(KYC, record)) };
  };
}

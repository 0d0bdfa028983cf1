import type { HandlerParts, Handlers } from '../handler.js';
import { unknownReference } from '../refusal.js';
import type { Lifecycle, Script } from '../transactions/lifecycle.js';
import type { Transaction } from '../transactions/transactions.js';
import type { Kind } from '../transactions/kind.js';

export type KycRecordStatus = 'PENDING' | 'IN_REVIEW' | 'APPROVED' | 'REJECTED';

const completed = {
  story: 'PENDING, and one step later APPROVED',
  path: ['APPROVED'],
} as const satisfies Script<KycRecordStatus>;
const rejected = {
  story: 'PENDING, and one step later REJECTED',
  path: ['REJECTED'],
} as const satisfies Script<KycRecordStatus>;

const KYC_ENDINGS = {
  completed,
  'kyc-rejected': rejected,
  'kyc-pending': { story: 'PENDING for ever', path: [] },
  'kyc-review': { story: 'in review for ever', path: ['IN_REVIEW'] },
  'kyc-slow': { ...completed, story: 'as completed, `slowFactor` times as slow', pace: 'slow' },
  'kyc-already-approved': { ...completed, story: 'decided before the first lookup', callbacks: false },
  'kyc-already-rejected': { ...rejected, story: 'decided before the first lookup', callbacks: false },
} as const satisfies Record<string, Script<KycRecordStatus>>;

/** "Status values of … KYC records: not shown". `kycStatus` is true if it is APPROVED. */
const KYC_LIFECYCLE: Lifecycle<KycRecordStatus> = {
  initial: 'PENDING',
  moves: {
    PENDING: ['IN_REVIEW', 'APPROVED', 'REJECTED'],
    IN_REVIEW: ['APPROVED', 'REJECTED'],
    APPROVED: [],
    REJECTED: [],
  },
  endings: KYC_ENDINGS,
  magic: {},
  words: { interface: {}, live: {} },
};

const KYC_EVENT = 'kyc.status.changed';

/** No money moves; everything else is like a transaction. */
export const KYC: Kind<{ readonly kycId: string }> = {
  operation: 'getKycStatus',
  title: 'KYC record',
  idPrefix: 'KYC',
  lifecycle: KYC_LIFECYCLE,
  amount: () => ({ amount: 0, currency: 'KES' }),
  parties: () => [],
  callbackUrl: () => undefined,
  figures: () => ({}),
  move: () => undefined,
  data: (kyc, word, at) => ({ ...kycRecord(kyc, word), updatedAt: at }),
  event: KYC_EVENT,
  alsoTells: () => [],
};

/** The "KYC status" of the interface. */
const kycRecord = ({ reference, status }: Transaction, word: string) => ({
  status: word,
  kycId: reference,
  kycStatus: status === 'APPROVED',
});

/** An id that contains one of these words has that ending; the first match counts. */
export const KYC_IDS: readonly (readonly [word: string, ending: keyof typeof KYC_ENDINGS])[] = [
  ['already-approved', 'kyc-already-approved'],
  ['already-rejected', 'kyc-already-rejected'],
  ['rejected', 'kyc-rejected'],
  ['pending', 'kyc-pending'],
  ['review', 'kyc-review'],
  ['slow', 'kyc-slow'],
  ['approved', 'completed'],
];

/** An id with this word does not exist. */
export const UNKNOWN_KYC_WORD = 'unknown';

/** The first read of an id begins its lifecycle; no operation of the interface makes a KYC record. */
export function kycHandlers({
  transactions,
  carrier,
  scenarios,
  wordFor,
  createId,
}: HandlerParts): Pick<Handlers, 'getKycStatus'> {
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

  return {
    getKycStatus({ param }) {
      const [known] = transactions.ofReference(param, KYC.operation);
      if (known === undefined && param.includes(UNKNOWN_KYC_WORD)) return unknownReference('KYC record', param);
      const record = known ?? begin(param);
      return { message: 'KYC record found', data: kycRecord(record, wordFor(KYC, record)) };
    },
  };
}

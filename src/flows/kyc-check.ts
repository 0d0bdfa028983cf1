import { z } from 'zod';
import type { KycStatus } from '../contract/account.js';
import { UNREADABLE } from '../protocol/messages.js';
import { KYC_WORDS } from '../protocol/statuses.js';
import { readCode } from '../readers/code.js';
import { fieldsOf, referencesIn } from './callback.js';
import { defineFlow, type EventReading } from './flow.js';
import { callerReference, commonInput } from './input.js';

/** Input of a `kyc-check`: which record. Its id is the flow's reference, since the caller has no other. */
const KycCheckInput = z.strictObject({
  kycId: callerReference(),
  ...commonInput,
});
export type KycCheckInput = z.infer<typeof KycCheckInput>;

export const kycCheckFlow = defineFlow({
  kind: 'kyc-check',
  input: KycCheckInput,
  referenceMember: 'kycId',
  decidedBy: ({ kycId }) => ({ kycId }),
  summaryOf: () => 'KYC check',
  webhooks: ['kyc.status.changed'],
  status: {
    operation: 'getKycStatus',
    read: (record) => {
      const { status, kycStatus } = record as KycStatus;
      return { status: kycWord(status, kycStatus ?? undefined), facts: {} };
    },
  },
  reads: {
    getKycStatus: {
      words: KYC_WORDS,
      said: (state, kycId) => (state === 'completed' ? { kycId, status: 'APPROVED', kycStatus: true } : undefined),
    },
  },
  readEvent: kycEvent,
  demo: {
    name: 'kyc',
    title: 'a record is looked up until it is approved',
    expected: 'completed',
    executes: {},
    // The quarter of an hour from one lookup to the next becomes 1.8 seconds, and the deadline 72.
    input: { timeScale: 0.002 },
  },
  docs: {
    story: 'wait for the decision on a record',
    learns: '`getKycStatus`, every 15 minutes, or at once when a webhook hints',
    guaranteed: 'no money moves; it can be cancelled at any time',
    atDeadline: ['no_decision'],
  },
});

const APPROVING = ['APPROVED', 'VERIFIED', 'ACCEPTED', 'PASSED'];
const REJECTING = ['REJECTED', 'DECLINED', 'DENIED', 'FAILED'];
/** With `kycStatus: true` these approve; alone they may only say that a review ended. */
const DONE = ['SUCCESS', 'SUCCESSFUL', 'COMPLETED'];

/**
 * One word for the record's content: APPROVED, REJECTED, or its own word, which is not final. "Status values of KYC
 * records: not shown": `true` approves, and so does an approving word; only a word rejects, since `false` is what a
 * record has before any review. If the two contradict one another, it is not decided.
 */
export function kycWord(text: string | undefined, approved: boolean | undefined): string | null {
  const word = readCode(text) ?? null;
  const approves = word !== null && APPROVING.includes(word);
  const rejects = word !== null && REJECTING.includes(word);
  if ((rejects && approved === true) || (approves && approved === false))
    return `${word}_BUT_KYC_STATUS_${approved ? 'TRUE' : 'FALSE'}`;
  if (rejects) return 'REJECTED';
  if (approves || approved === true) return 'APPROVED';
  if (word !== null && DONE.includes(word) && approved === false) return `${word}_BUT_KYC_STATUS_FALSE`;
  return word ?? (approved === false ? 'PENDING' : null);
}

const flag = z
  .union([z.boolean(), z.enum(['true', 'false']).transform((word) => word === 'true')])
  .optional()
  .catch(undefined);
const status = z.string().optional().catch(undefined);

const Fields = z.looseObject({
  status,
  kycStatus: flag,
  kyc_status: flag,
});

/** "Payload shapes of all other events: not shown": the record's own members, in either spelling. */
function kycEvent(body: unknown): EventReading | undefined {
  const { fields: said, holds } = fieldsOf(body);
  const parsed = Fields.safeParse(said);
  if (!parsed.success) return undefined;
  const { kycStatus, kyc_status, ...fields } = parsed.data;
  return {
    references: referencesIn(said, ['kycId', 'kyc_id', 'referenceId', 'reference_id']),
    status: kycWord(fields.status, kycStatus ?? kyc_status),
    facts: holds === 'unreadable' ? { body: UNREADABLE } : {},
  };
}

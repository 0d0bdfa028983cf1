import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { NotSentError, RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { ACCOUNT } from '../harness/fixed.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openDecisionBench } from './bench.js';

const FAILED = { refundAnnounced: 'true', failureStage: 'settlement' };
export const failed = (facts: Record<string, string> = {}) => trusted('FAILED', { facts: { ...FAILED, ...facts } });
export const untrusted = (status: string, facts: Record<string, string> = {}): FlowEvent =>
  trusted(status, { trusted: false, proof: null, source: 'settlement', facts });

type Decisions = Awaited<ReturnType<typeof openDecisionBench>>;

/** Transfers whose input orders a refund, and a service that a test can make fail; for the file that calls it. */
export function useRefundBench() {
  const sent: unknown[] = [];
  const refunds = {
    /** Open while the tests run. */
    decisions: undefined as unknown as Decisions,
    /** Whether the service cannot be reached for a refund. */
    isAway: false,
    /** What happens while a refund is tried in vain, once; then the service can be reached. */
    meanwhile: undefined as (() => Promise<unknown>) | undefined,
    /** What happens before the service refuses a refund. */
    refusedAfter: undefined as (() => Promise<unknown>) | undefined,
    /** Whether answers are lost. */
    isLost: false,
    /** Whether refunds are lost on their way. */
    isCutOff: false,
    /** Amounts of the refunds of this test. */
    sent,
    tracked: async (word: string, more: Record<string, unknown> = {}) => {
      const reference = newReference(word);
      const input = transferInput(reference, { refund: { auto: true }, timeScale: 0.001, deadlineSeconds: 2_592_000 });
      const handle = await refunds.decisions.bench.start({ ...input, ...more });
      await untilFlow(handle, ({ view }) => view.stage === 'tracking');
      return { reference, refund: `${reference}.refund`, handle };
    },
    claimOf: (reference: string) =>
      refunds.decisions.store.claims.get({ account: ACCOUNT, operation: 'sendCrypto', reference }),
  };
  beforeEach(() => void sent.splice(0));
  beforeAll(async () => {
    refunds.decisions = await openDecisionBench((service) => ({
      sendCrypto: async (body) => {
        const { meanwhile } = refunds;
        if (meanwhile !== undefined) {
          await meanwhile();
          refunds.meanwhile = undefined;
          throw new NotSentError('sendCrypto', 'refused');
        }
        if (refunds.refusedAfter !== undefined) {
          await refunds.refusedAfter();
          const refusal = { httpStatus: 400, message: 'Refunded already', fields: [], isAboutReference: false };
          throw new RejectedError('sendCrypto', { ...refusal, isRateExpired: false });
        }
        if (refunds.isAway) throw new NotSentError('sendCrypto', 'refused');
        sent.push(body.cryptoAmount);
        if (refunds.isCutOff) throw new UnknownOutcomeError('sendCrypto', 'timeout');
        const answer = await service.sendCrypto(body);
        if (refunds.isLost) throw new UnknownOutcomeError('sendCrypto', 'timeout');
        return answer;
      },
      getCryptoSend: async (reference) => {
        if (refunds.isLost) throw new UnknownOutcomeError('getCryptoSend', 'timeout');
        return service.getCryptoSend(reference);
      },
    }));
  });
  afterAll(() => refunds.decisions.close());
  return refunds;
}

import type { Chain, Token } from '../src/contract/vocabulary.js';
import { canonicalJson } from '../src/store/canonical-json.js';
import { toWireNumber } from '../src/money.js';
import type { RefundOrder } from './bridge-terms.js';
import type { ActivityDeps } from './deps.js';
import { withHeartbeat } from './heartbeat.js';
import type { SubmitOutcome } from './outcomes.js';
import { lookUpPost } from './settle-unknown.js';
import { submitUnderClaim } from './submit-under-claim.js';

/** Trusted words that a refund must not be sent against. */
const CONTRADICTIONS = ['COMPLETED', 'REFUNDED'] as const;

export function createRefundActivities(deps: ActivityDeps) {
  return {
    /** Sends a refund by `sendCrypto`, under the claim of `{reference}.refund`. */
    async submitRefund(order: RefundOrder): Promise<{ outcome: SubmitOutcome; fingerprint: string }> {
      const { flowId, pin, reference, receiverAddress, chain, token, cryptoAmount } = order;
      const decided = { receiverAddress, chain, token, cryptoAmount };
      const fingerprint = deps.store.mac('refund', canonicalJson(decided));
      const claim = { operation: 'sendCrypto', reference, flowId, fingerprint, pin };
      const outcome = await withHeartbeat(deps.clock, () =>
        submitUnderClaim(deps, {
          claim,
          guard: { flowId, statuses: CONTRADICTIONS },
          lookUp: () => lookUpPost(deps, { claim, expect: { cryptoAmount, receiverAddress }, saidToExist: false }),
          request: () => ({
            receiverAddress,
            chain: chain as Chain,
            token: token as Token,
            cryptoAmount: toWireNumber(cryptoAmount),
            referenceId: reference,
          }),
          send: (request) => deps.service.sendCrypto(request),
        }),
      );
      return { outcome, fingerprint };
    },
  };
}

import type { BridgeDepositAnswer } from '../../activities/bridge-terms.js';
import type { BridgeDeposit } from '../../src/contract/bridge.js';

/** What the flow needs of the service's answer to a deposit. Members that it did not give are null. */
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
            method: refund.primary_method ?? null,
            fallbackMethod: refund.fallback_method ?? null,
            fallbackAddress: refund.fallback_address ?? null,
            chain: refund.chain ?? null,
            token: refund.token ?? null,
            cryptoAmount: refund.refund_crypto_amount ?? null,
            lifeMs: lifeOf(data.created_at, refund.expires_at),
          },
  };
}

/** A duration between two stamps of the service's clock, at most a day: ours does not matter. */
function lifeOf(created: string | null | undefined, expires: string | null | undefined): number | null {
  const lifeMs = Date.parse(expires ?? '') - Date.parse(created ?? '');
  return Number.isFinite(lifeMs) && lifeMs > 0 ? Math.min(lifeMs, 86_400_000) : null;
}

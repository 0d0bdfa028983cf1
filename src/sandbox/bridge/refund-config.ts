import { createHash } from 'node:crypto';
import type { BridgeDepositRequest } from '../../contract/bridge.js';
import type { Clock } from '../clock.js';

/** "A refund invoice is valid 15 min"; an on-chain `refund_config` has no invoice and no `expires_at`. */
const REFUND_INVOICE_LIFE_MS = 15 * 60_000;

export interface RefundConfig {
  readonly primary_method: string;
  readonly chain: string;
  readonly token: string;
  readonly refund_invoice?: string;
  readonly refund_payment_hash?: string;
  readonly refund_amount_msat?: number;
  readonly refund_crypto_amount?: number;
  readonly fallback_address: string;
  readonly fallback_method: string;
  readonly expires_at?: string;
}

/** Where the crypto of a failed transfer is to go back to. Each deposit has an address of its own. */
export function refundConfig(
  request: BridgeDepositRequest,
  depositId: string,
  crypto: { readonly amount: string; readonly unit: string },
  clock: Clock,
): RefundConfig {
  const fallback = {
    fallback_address: `0x${hash(depositId, 'address').slice(0, 40)}`,
    fallback_method: 'crypto_address',
  };
  const { chain, token } = request;
  if (chain !== 'LIGHTNING') {
    return { primary_method: 'crypto_address', chain, token, refund_crypto_amount: Number(crypto.amount), ...fallback };
  }
  const paymentHash = hash(depositId, 'refund');
  return {
    primary_method: 'lightning_invoice',
    chain,
    token,
    // Looks like an invoice and is none: nobody can pay it.
    refund_invoice: `lnbc${Number(crypto.amount)}p1sandbox${paymentHash}`,
    refund_payment_hash: paymentHash,
    ...(crypto.unit === 'MSAT'
      ? { refund_amount_msat: Number(crypto.amount) }
      : { refund_crypto_amount: Number(crypto.amount) }),
    ...fallback,
    expires_at: clock.iso(clock.now() + REFUND_INVOICE_LIFE_MS),
  };
}

const hash = (...parts: readonly string[]) => createHash('sha256').update(parts.join(' ')).digest('hex');

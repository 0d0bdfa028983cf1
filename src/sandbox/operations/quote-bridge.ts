import type { Clock } from '../clock.js';
import { QUOTE_LIFE_MS, type Quotes } from '../bridge/quotes.js';
import { figures } from '../bridge/rates.js';
import type { LiveSettings } from '../settings.js';
import type { Handler } from './handler.js';

export function createQuoteBridge(deps: {
  quotes: Quotes;
  clock: Clock;
  settings: LiveSettings;
  createId: () => string;
}): Handler<'quoteBridge'> {
  const { quotes, clock, settings, createId } = deps;
  return ({ body }) => {
    const rateId = `rate_${createId()}`;
    const createdAt = clock.now();
    const { source_amount, source_currency, crypto_chain: chain, crypto_token: token } = body;
    quotes.keep(rateId, { source_amount, source_currency, chain, token }, createdAt + QUOTE_LIFE_MS);
    const quoted = figures(String(source_amount), source_currency, token, settings.current().rateDriftBps);
    return {
      message: 'Rate quote created',
      data: {
        rate_id: rateId,
        source_amount,
        source_currency,
        crypto_amount: Number(quoted.cryptoAmount),
        crypto_unit: quoted.cryptoUnit,
        chain,
        token,
        exchange_rate: {
          fiat_to_btc: quoted.fiatToBtc,
          btc_to_msat: Number(quoted.btcToMsat),
          exchange_rate_source: 'sandbox',
        },
        fees: {
          fiat_fee: Number(quoted.fiatFee),
          fiat_fee_currency: source_currency,
          crypto_fee: Number(quoted.cryptoFee),
          crypto_fee_unit: quoted.cryptoFeeUnit,
          fee_percentage: Number(quoted.feePercentage),
        },
        total_cost: source_amount,
        net_crypto_amount: Number(quoted.netCryptoAmount),
        expires_at: clock.iso(createdAt + QUOTE_LIFE_MS),
        created_at: clock.iso(createdAt),
      },
    };
  };
}

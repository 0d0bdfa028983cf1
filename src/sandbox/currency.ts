import { Big } from 'big.js';

/** ISO 4217: these have no minor unit. */
const WITHOUT_DECIMALS: readonly string[] = ['UGX', 'XOF', 'XAF', 'RWF', 'GNF'];
/** Currencies of the interface that are no fiat, as precise as their chains show them. */
const DECIMALS: Readonly<Record<string, number>> = { USDT: 6, USDC: 6, BTC: 8, ETH: 8 };

export const decimalsOf = (currency: string): number =>
  WITHOUT_DECIMALS.includes(currency) ? 0 : (DECIMALS[currency] ?? 2);

const FEE_PERCENT = '1';

/** The service's fee on an amount, in its currency, rounded down to what the currency can express. */
export const feeOf = (amount: string, currency: string): string =>
  new Big(amount).times(FEE_PERCENT).div(100).round(decimalsOf(currency), Big.roundDown).toFixed();

export const less = (amount: string, fee: string): string => new Big(amount).minus(fee).toFixed();

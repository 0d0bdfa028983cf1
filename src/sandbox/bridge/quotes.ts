import { Big } from 'big.js';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { Handler } from '../handler.js';
import { Refusal } from '../refusal.js';
import type { LiveSettings } from '../settings.js';

/** "Validity of a rate quote: 60 seconds". */
const QUOTE_LIFE_MS = 60_000;

interface QuotedDeal {
  readonly source_amount: number;
  readonly source_currency: string;
  readonly chain: string;
  readonly token: string;
}

export interface Quotes {
  /** Inside `database.write`. */
  keep(rateId: string, deal: QuotedDeal, expiresAt: number): void;
  /** Why this deposit may not use the quote, or undefined. A reference that used it may use it again (repeat modes). */
  refusal(rateId: string, reference: string, deal: QuotedDeal): Refusal | undefined;
  /** Inside `database.write`. */
  use(rateId: string, reference: string): void;
}

const invalidRate = (why: string) => new Refusal(400, 'INVALID_RATE', 'Invalid Rate', { errors: [at(why)] });
const at = (message: string) => ({ path: 'rate_id', message });

export const rateExpired = () =>
  new Refusal(400, 'RATE_EXPIRED', 'Rate Expired', { errors: [at('the quote has expired')] });

export function createQuotes(deps: { database: Database; clock: Clock }): Quotes {
  const { database, clock } = deps;
  return {
    keep(rateId, deal, expiresAt) {
      database.run(
        'INSERT INTO quotes (rate_id, quote, expires_at) VALUES (?, ?, ?)',
        rateId,
        JSON.stringify(deal),
        expiresAt,
      );
    },
    refusal(rateId, reference, deal) {
      const row = database.get<{ quote: string; expires_at: number; used_by: string | null }>(
        'SELECT quote, expires_at, used_by FROM quotes WHERE rate_id = ?',
        rateId,
      );
      if (row === undefined) return invalidRate('there is no such quote');
      if (row.used_by !== null && row.used_by !== reference) return invalidRate('the quote was used before');
      if (clock.now() >= row.expires_at) return rateExpired();
      const quoted = JSON.parse(row.quote) as QuotedDeal;
      for (const member of ['source_amount', 'source_currency', 'chain', 'token'] as const) {
        if (quoted[member] !== deal[member]) return invalidRate(`the quote was made for another ${member}`);
      }
      return undefined;
    },
    use(rateId, reference) {
      database.run('UPDATE quotes SET used_by = ? WHERE rate_id = ?', reference, rateId);
    },
  };
}

/**
 * Units of fiat (or of what is listed among the fiat currencies) for one US dollar. Invented, and the same every day.
 */
const PER_DOLLAR: Readonly<Record<string, string>> = {
  KES: '129.5',
  GHS: '15.2',
  NGN: '1540',
  ZAR: '18.1',
  USD: '1',
  XOF: '605',
  ZMW: '26.8',
  XAF: '605',
  SLE: '22.7',
  CDF: '2850',
  TZS: '2650',
  UGX: '3680',
  EGP: '49.3',
  MWK: '1735',
  RWF: '1370',
  ETB: '122',
  MZN: '63.9',
  LSL: '18.1',
  GNF: '8620',
  USDT: '1',
  USDC: '1',
  BTC: '0.00001',
  ETH: '0.0003',
};

const DOLLARS_PER_BTC = '100000';
const MSAT_PER_BTC = '100000000000';

/** Units of a token for one US dollar. */
const TOKENS_PER_DOLLAR: Readonly<Record<string, string>> = {
  CUSD: '1',
  USDC: '1',
  USDT: '1',
  BUSD: '1',
  USDGLO: '1',
  HASH: '32',
  HBAR: '9',
  CKES: '129.5',
  CGHS: '15.2',
  USDT0: '1',
  SAT: '1000',
  BTC: '0.00001',
  FUSE: '40',
  XLM: '4',
  ADA: '2',
  MSAT: new Big(MSAT_PER_BTC).div(DOLLARS_PER_BTC).toFixed(),
};

const FEE_PERCENT = '1';
const FIAT_DECIMALS = 2;
const TOKEN_DECIMALS = 6;

/** Whole sats and msats; of any other token no more than six. */
const decimalsOfToken = (token: string) =>
  token === 'MSAT' || token === 'SAT' ? 0 : token === 'BTC' ? 8 : TOKEN_DECIMALS;

/** The fiat value of an amount of a token, rounded down to the given decimals. */
export const fiatFor = (amount: string, token: string, currency: string, driftBps: number, decimals: number): string =>
  new Big(amount)
    .div(TOKENS_PER_DOLLAR[token] ?? '1')
    .times(PER_DOLLAR[currency] ?? '1')
    .times(10_000 - driftBps)
    .div(10_000)
    .round(decimals, Big.roundDown)
    .toFixed();

export interface Figures {
  readonly cryptoAmount: string;
  readonly cryptoUnit: string;
  readonly fiatFee: string;
  readonly cryptoFee: string;
  readonly cryptoFeeUnit: string;
  readonly feePercentage: string;
  readonly netCryptoAmount: string;
  readonly fiatToBtc: string;
  readonly btcToMsat: string;
}

/** The fee on a source amount, in its currency. */
export const fiatFee = (amount: string): string =>
  new Big(amount).times(FEE_PERCENT).div(100).round(FIAT_DECIMALS, Big.roundDown).toFixed();

/** What a source amount buys. `driftBps` moves the market: this many basis points less crypto. Exact, rounded down. */
export function figures(amount: string, currency: string, token: string, driftBps: number): Figures {
  const perDollar = new Big(PER_DOLLAR[currency] ?? '1');
  const dollars = new Big(amount).div(perDollar);
  const isMsat = token === 'MSAT';
  const decimals = decimalsOfToken(token);
  const gross = dollars
    .times(TOKENS_PER_DOLLAR[token] ?? '1')
    .times(10_000 - driftBps)
    .div(10_000)
    .round(decimals, Big.roundDown);
  const fee = gross.times(FEE_PERCENT).div(100).round(decimals, Big.roundDown);
  return {
    cryptoAmount: gross.toFixed(),
    cryptoUnit: token,
    fiatFee: fiatFee(amount),
    // The service reports a Lightning fee in sats and its amount in msats; so do we.
    cryptoFee: isMsat ? fee.div(1000).round(0, Big.roundDown).toFixed() : fee.toFixed(),
    cryptoFeeUnit: isMsat ? 'SAT' : token,
    feePercentage: FEE_PERCENT,
    netCryptoAmount: gross.minus(fee).toFixed(),
    fiatToBtc: new Big(1).div(perDollar).div(DOLLARS_PER_BTC).round(16, Big.roundDown).toFixed(),
    btcToMsat: MSAT_PER_BTC,
  };
}

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

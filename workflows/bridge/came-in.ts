import { checkAmount, compareAmounts } from '../../src/money.js';
import { isUnread, UNREADABLE } from '../../src/protocol/messages.js';
import type { BridgeTransferInput } from '../../src/flows/bridge-transfer.js';
import type { Facts } from '../../activities/types.js';

/** Amounts in an event about the crypto that came in, or that is to go back. */
const AMOUNTS = ['cryptoAmount', 'amountMsat', 'refundCryptoAmount'] as const;

/**
 * The smallest reported value of each; unreadable once one of them is; when the crypto came in; and whether one of the
 * events could not be read. Events may come in any order.
 */
export function smallest(known: Facts, said: Facts): Facts {
  const least: Record<string, string> = { ...known };
  const cameInAt = [known, said].flatMap(({ cryptoReceivedAt }) => cryptoReceivedAt ?? []);
  const [first] = [...cameInAt.filter((at) => at !== UNREADABLE), ...cameInAt];
  if (first !== undefined) least['cryptoReceivedAt'] = first;
  if (isUnread(said)) least['body'] = UNREADABLE;
  for (const name of AMOUNTS) {
    const [theirs, before] = [said[name], least[name]];
    if (theirs === undefined || before === UNREADABLE) continue;
    if (theirs === UNREADABLE || before === undefined || isLess(theirs, before)) least[name] = theirs;
  }
  return least;
}

const isLess = (amount: string, than: string): boolean => compareAmounts(amount, than) < 0;

type AskedFor = Pick<BridgeTransferInput, 'crypto_payment' | 'token'>;

const isMsat = (token: string): boolean => token === 'MSAT';

/** How much was to come in, in units of the token. In MSAT `amount_msat` says it: `crypto_amount` may be in bitcoins. */
export const wantedOf = ({ crypto_payment: { crypto_amount, amount_msat }, token }: AskedFor): string | undefined =>
  isMsat(token) ? amount_msat : crypto_amount;

/**
 * The most that may be sent back, in the token that was to come in. Null if the input does not say how much that is, or
 * if an event gives an amount that cannot be read, or another one in another unit.
 */
export function mostToRefund(input: AskedFor, cameIn: Facts): string | null {
  const { crypto_amount: asked, amount_msat: askedMsat } = input.crypto_payment;
  const inMsat = isMsat(input.token);
  const wanted = wantedOf(input);
  if (wanted === undefined) return null;
  if (AMOUNTS.some((name) => cameIn[name] === UNREADABLE)) return null;
  const { amountMsat } = cameIn;
  // All that was asked for, in whichever unit, is no limit.
  const said = [cameIn['cryptoAmount'], cameIn['refundCryptoAmount']].filter((one) => !inMsat || one !== asked);
  if (inMsat && said.some((one) => one !== undefined && checkAmount(one, 'MSAT') !== undefined)) return null;
  if (!inMsat && amountMsat !== undefined && askedMsat !== undefined && isLess(amountMsat, askedMsat)) return null;
  const limits = [...said, inMsat ? amountMsat : undefined];
  return limits.reduce<string>((most, limit) => (limit !== undefined && isLess(limit, most) ? limit : most), wanted);
}

import {
  addAmounts,
  compareAmounts,
  multiplyByBps,
  roundAmount,
  subtractAmounts,
  toWireNumber,
  UnsafeAmountError,
} from '../../src/money.js';
import { readAmount } from '../../src/readers/amount.js';
import type { Random } from '../harness/random.js';

export const WITHOUT_DECIMALS = ['UGX', 'XOF', 'XAF', 'RWF', 'GNF'];
/** These tests' own knowledge about currencies. */
export const CURRENCIES: readonly (readonly [name: string, decimals: number])[] = [
  ...WITHOUT_DECIMALS.map((name) => [name, 0] as const),
  ['KES', 2],
  ['USDC', 6],
  ['BTC', 8],
  ['CUSD', 18],
];
const TURNS = 2_200;
/** 2^53+1 and its neighbours, cents that are inexact in binary, and the limits of a JSON number. */
const EDGES = [0n, 1n, 10n, 20n, 30n, 2n ** 53n - 1n, 2n ** 53n + 1n, 10n ** 15n - 1n, 10n ** 15n, 10n ** 17n + 1n];

/** The other arithmetic: whole minor units in BigInt. */
function textOf(minor: bigint, decimals: number): string {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  const whole = decimals === 0 ? digits : digits.slice(0, -decimals);
  return `${minor < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** What flows do with money, on three accounts, by both arithmetics. @returns what differs, and how much was done */
export function keepBooks(random: Random, name: string, decimals: number) {
  const ours = { in: '0', out: '0', fees: '0' };
  const theirs = { in: 0n, out: 0n, fees: 0n };
  const differing: string[] = [];
  let operations = 0;
  const agree = (what: string, mine: string | undefined, minor: bigint) => {
    if (mine !== textOf(minor, decimals)) differing.push(`${what} of ${name}: ${mine}, not ${textOf(minor, decimals)}`);
  };
  for (let turn = 0; turn < TURNS; turn += 1) {
    const minor =
      random.below(8) === 0 ? random.pick(EDGES) : BigInt(random.below(2 ** 31)) * BigInt(random.below(2 ** 20));
    const amount = textOf(minor, decimals);
    switch (random.below(5)) {
      case 0:
        ours.in = addAmounts(ours.in, amount);
        theirs.in += minor;
        operations += 1;
        break;
      case 1:
        ours.out = subtractAmounts(ours.out, amount);
        theirs.out -= minor;
        operations += 1;
        break;
      case 2: {
        const bps = random.below(10_001);
        const mode = random.pick(['down', 'half-up'] as const);
        const fee = roundAmount(multiplyByBps(amount, bps), decimals, mode);
        const feeMinor = (minor * BigInt(bps) + (mode === 'down' ? 0n : 5_000n)) / 10_000n;
        agree('a fee', fee, feeMinor);
        ours.fees = addAmounts(ours.fees, fee);
        ours.in = addAmounts(ours.in, subtractAmounts(amount, fee));
        theirs.fees += feeMinor;
        theirs.in += minor - feeMinor;
        operations += 5;
        break;
      }
      case 3:
        agree('what came over the wire', overTheWire(amount), minor);
        operations += 2;
        break;
      default: {
        const other = random.pick(EDGES);
        operations += 1;
        const sign = minor < other ? -1 : minor > other ? 1 : 0;
        if (compareAmounts(amount, textOf(other, decimals)) !== sign)
          differing.push(`the order of ${amount} in ${name}`);
      }
    }
  }
  for (const account of ['in', 'out', 'fees'] as const) agree(account, ours[account], theirs[account]);
  return { differing, operations };
}

/** As a JSON number if it is exact as one; else it is refused, and sent as text. */
function overTheWire(amount: string): string {
  try {
    return readAmount(JSON.parse(JSON.stringify(toWireNumber(amount)))) ?? 'unreadable';
  } catch (error) {
    if (!(error instanceof UnsafeAmountError)) throw error;
    return readAmount(amount) ?? 'unreadable';
  }
}

import type { LiveSettings } from '../settings.js';
import type { Transaction } from './transaction.js';

/** The first transaction has the number after it. */
export const NUMBERS_FROM = 250_101_000;

/** As the live service also writes it: `"MP250101001"` (service-notes.md). */
export const liveNumber = (number: number) => `MP${number}`;

/** The reference number of an answer: a number by the interface. */
export type ReferenceNumbers = (transaction: Transaction) => number | string;

export const createReferenceNumbers =
  (deps: { settings: LiveSettings }): ReferenceNumbers =>
  ({ number }) =>
    deps.settings.current().vocabulary === 'live' ? liveNumber(number) : number;

import type { LiveSettings } from '../settings.js';
import type { Transaction } from './transaction.js';

/** A number by the interface; the live service also writes `"MP250101001"` (service-notes.md). */
export type ReferenceNumbers = (transaction: Transaction) => number | string;

const FIRST = 250_101_000;

export const createReferenceNumbers =
  (deps: { settings: LiveSettings }): ReferenceNumbers =>
  ({ number }) =>
    deps.settings.current().vocabulary === 'live' ? `MP${FIRST + number}` : FIRST + number;

import type { LiveSettings } from '../settings.js';
import type { Kind } from './kind.js';
import { wordOf } from './lifecycle.js';
import type { Transaction } from './transaction.js';

/** The word that a transaction's status has on the wire at present. */
export type Words = (kind: Pick<Kind, 'lifecycle'>, transaction: Pick<Transaction, 'status'>) => string;

export const createWords =
  (deps: { settings: LiveSettings }): Words =>
  ({ lifecycle }, { status }) =>
    wordOf(lifecycle, status, deps.settings.current().vocabulary);

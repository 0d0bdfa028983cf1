import type { BridgeEnding } from './endings.js';

/** The two decimals of a deposit's source amount choose its ending, where no scenario was set for its reference. */
export const BRIDGE_MAGIC_AMOUNTS: Readonly<Record<string, BridgeEnding>> = {
  '.11': 'statuses-by-callback-only',
  '.13': 'failed-then-refunded',
  '.14': 'failed-no-refund',
  '.15': 'failed-early',
  '.16': 'no-callbacks-ever',
  '.17': 'no-settlement-ever',
  '.18': 'silent',
  '.19': 'slow',
  '.21': 'completed-then-refunded',
  '.22': 'mismatching-amount',
  '.41': 'rejected',
  '.42': 'insufficient-funds',
  '.43': 'rate-expired',
};

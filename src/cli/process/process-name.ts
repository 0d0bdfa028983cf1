import type { Settings } from '../../config/index.js';

export type ProcessName = 'gateway' | 'sandbox' | 'worker';

/** Beyond the longest POST, which a worker finishes before it ends; and so does a gateway, with that of a card. */
const POST_GRACE_MS = 20_000;
const GRACE_MS = 15_000;

/** How long a process may take to finish what is in flight. */
export function graceMsOf(name: ProcessName, { serviceTimeoutMs }: Pick<Settings, 'serviceTimeoutMs'>): number {
  return name === 'sandbox' ? GRACE_MS : serviceTimeoutMs + POST_GRACE_MS;
}

import type { Client } from '@temporalio/client';
import { systemClock } from '../clock.js';

/** A call to Temporal, given up after `ms`. @throws ServiceError if Temporal cannot be reached in that time */
export function callWithin<T>(
  { connection }: { readonly connection: Pick<Client['connection'], 'withDeadline'> },
  ms: number,
  call: () => Promise<T>,
): Promise<T> {
  return connection.withDeadline(systemClock.nowMs() + ms, call);
}

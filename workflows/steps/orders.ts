import type { UpdateDefinition } from '@temporalio/common';
import { ApplicationFailure, CancellationScope, setHandler } from '@temporalio/workflow';
import type { PersonOrder } from '../../src/flows/messages.js';
import { isPlaintext } from '../../src/temporal/plaintext-marker.js';
import type { Flow } from './flow.js';

/**
 * Handles an update. A refused *Cancel* of the Temporal UI leaves the root scope cancelled for ever, and handlers run in
 * it: each body gets a scope that cannot be cancelled.
 */
export function onUpdate<Answer, Args extends unknown[]>(
  update: UpdateDefinition<Answer, Args>,
  body: (...args: Args) => Promise<Answer>,
  validator?: (...args: Args) => void,
): void {
  const handler = (...args: Args) => CancellationScope.nonCancellable(() => body(...args));
  setHandler(update, handler, validator === undefined ? {} : { validator });
}

export function checkOrder(flow: Flow, order: PersonOrder): void {
  if (isPlaintext(order) && !flow.allowPlaintext) {
    throw notAllowed('not_allowed', 'This update came unencrypted. Send it through a client with the payload codec.');
  }
  if (typeof order?.actor !== 'string') throw notAllowed('not_allowed', 'The order names no actor.');
}

export function notAllowed(type: string, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}

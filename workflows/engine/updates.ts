import { ApplicationFailure, CancellationScope, setHandler } from '@temporalio/workflow';
import type { UpdateDefinition } from '@temporalio/common';
import type { CauseCode } from '../../src/protocol/causes.js';
import type { PersonOrder } from '../../src/protocol/messages.js';
import { UPDATES } from '../../src/protocol/vocabulary.js';
import { isPlaintext } from '../../src/protocol/plaintext-marker.js';
import { MAX_UPDATES_PER_RUN } from './policies.js';

/** What takes updates: how many it has taken, and whether it takes those that came in the clear. */
interface Taking {
  updates: number;
  readonly allowPlaintext: boolean;
}

/**
 * Handles an update. A refused *Cancel* of the Temporal UI leaves the root scope cancelled for ever, and handlers run
 * in it, so each body gets a scope that cannot be cancelled.
 *
 * @param validator refuses at once: that leaves nothing in the history, and does not count for the limit
 */
export function onUpdate<Answer, Args extends unknown[]>(
  flow: Taking,
  update: UpdateDefinition<Answer, Args>,
  body: (...args: Args) => Promise<Answer>,
  validator: (...args: Args) => void = () => undefined,
): void {
  // A client without our keys sends in the clear. `checkOrder` refuses what is still wrapped then.
  const opened = (args: Args) =>
    args.map((arg: unknown) => (flow.allowPlaintext && isPlaintext(arg) ? arg.__plaintext : arg)) as Args;
  const handler = (...args: Args) => {
    flow.updates += 1;
    return CancellationScope.nonCancellable(() => body(...opened(args)));
  };
  const refuseBeyond = (...args: Args) => {
    if (update.name !== UPDATES.resolve && flow.updates >= MAX_UPDATES_PER_RUN) {
      const many = `This run of the flow has taken ${MAX_UPDATES_PER_RUN} orders`;
      throw orderRefused('too_many_orders', `${many}: it takes no more of them, except those that resolve it.`);
    }
    validator(...opened(args));
  };
  setHandler(update, handler, { validator: refuseBeyond });
}

/** @throws ApplicationFailure if the order came in the clear to a flow that takes none of those, or names no actor */
export function checkOrder(order: PersonOrder): void {
  if (isPlaintext(order)) {
    throw orderRefused('unencrypted', 'This update came unencrypted. Send it through a client with the payload codec.');
  }
  if (typeof order?.actor !== 'string') throw orderRefused('no_actor', 'The order names no actor.');
}

/** @param type for programs; the gateway shows it as `code` */
export function orderRefused(type: CauseCode, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message });
}

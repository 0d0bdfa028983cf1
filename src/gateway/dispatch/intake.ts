import type { InboxStore, Receipt, ReceivedEvent } from '../../store/inbox.js';
import type { Dispatcher } from './dispatcher.js';

/** Receipts of one flow's events that overlap. */
interface Together {
  open: number;
  all: number;
}

/**
 * Into the inbox, and on to the flow. The event of a quiet flow is leased in the transaction that stores it, and goes
 * out without a look into the inbox; where others of its flow come at the same time, they go out with it.
 *
 * @returns durable when it resolves, as {@link InboxStore.receive}, which also tells what it throws
 */
export function createIntake(deps: {
  readonly inbox: Pick<InboxStore, 'receive'>;
  readonly dispatcher: Pick<Dispatcher, 'nudge' | 'reserve'>;
}): (event: ReceivedEvent) => Promise<Receipt> {
  const { inbox, dispatcher } = deps;
  const together = new Map<string, Together>();

  const receiveOf = async (flowId: string, event: ReceivedEvent, receipts: Together): Promise<Receipt> => {
    const place = receipts.open === 1 ? dispatcher.reserve(flowId) : undefined;
    try {
      const receipt = await inbox.receive(event, place?.leaseMs);
      if (receipt.leased !== undefined) place?.deliver(receipt.leased, receipts.all === 1 ? 'whole' : 'more came');
      else if (receipt.kind === 'stored') dispatcher.nudge();
      return receipt;
    } finally {
      place?.free();
    }
  };

  return async (event) => {
    const { flowId } = event;
    // Nobody's: a person looks at it.
    if (flowId === null) return inbox.receive(event);
    const receipts = together.get(flowId) ?? { open: 0, all: 0 };
    together.set(flowId, receipts);
    receipts.open += 1;
    receipts.all += 1;
    try {
      return await receiveOf(flowId, event, receipts);
    } finally {
      receipts.open -= 1;
      if (receipts.open === 0) together.delete(flowId);
    }
  };
}

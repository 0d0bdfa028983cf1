import type { InboxStore, Receipt } from '../../store/inbox.js';
import type { Dispatcher, Place } from './dispatcher.js';
import type { ReceivedEvent } from '../../protocol/events.js';

/** An event for which a place is held. */
interface First {
  /** Others of its flow came while it was stored. */
  moreCame: boolean;
}

/**
 * Into the inbox, and on to the flow. The event of a quiet flow is leased in the transaction that stores it, and goes
 * out without a read of the inbox; where others of its flow come at the same time, they go out with it.
 *
 * @returns durable when it resolves, as {@link InboxStore.receive}, which also says what it throws
 */
export function createIntake(deps: {
  readonly inbox: Pick<InboxStore, 'receive'>;
  readonly dispatcher: Pick<Dispatcher, 'nudge' | 'reserve'>;
}): (event: ReceivedEvent) => Promise<Receipt> {
  const { inbox, dispatcher } = deps;
  const firsts = new Map<string, First>();

  const receiveFirst = async (flowId: string, event: ReceivedEvent, place: Place): Promise<Receipt> => {
    const first: First = { moreCame: false };
    firsts.set(flowId, first);
    try {
      const receipt = await inbox.receive(event, place.leaseMs);
      if (receipt.leased !== undefined) place.deliver(receipt.leased, first.moreCame ? 'more came' : 'whole');
      else nudge(receipt);
      return receipt;
    } finally {
      firsts.delete(flowId);
      place.free();
    }
  };

  const nudge = (receipt: Receipt): Receipt => {
    if (receipt.kind === 'stored') dispatcher.nudge();
    return receipt;
  };

  return (event) => {
    const { flowId } = event;
    // It matches no flow: a person looks at it.
    if (flowId === null) return inbox.receive(event);
    const first = firsts.get(flowId);
    if (first !== undefined) first.moreCame = true;
    const place = first === undefined ? dispatcher.reserve(flowId) : undefined;
    return place === undefined ? inbox.receive(event).then(nudge) : receiveFirst(flowId, event, place);
  };
}

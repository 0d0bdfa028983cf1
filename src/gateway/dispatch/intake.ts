import type { InboxStore, Receipt } from '../../store/inbox.js';
import type { Dispatcher, Place } from './dispatcher.js';
import type { WebhookMatcher } from './webhook-matcher.js';
import type { ReceivedEvent } from '../../protocol/events.js';

/** An event for which a place is reserved. */
interface First {
  /** Other events of its flow came while it was stored. */
  moreCame: boolean;
}

/**
 * Stores an event in the inbox, and sends it to its flow. The event of a quiet flow is leased in the transaction that
 * stores it, and is sent without a read of the inbox; other events of its flow that come at the same time are sent with
 * it.
 *
 * @returns durable when it resolves, like {@link InboxStore.receive}, which also documents the errors
 */
export function createIntake(deps: {
  readonly inbox: Pick<InboxStore, 'receive'>;
  readonly dispatcher: Pick<Dispatcher, 'nudge' | 'reserve'>;
  readonly matcher: Pick<WebhookMatcher, 'nudge'>;
}): (event: ReceivedEvent) => Promise<Receipt> {
  const { inbox, dispatcher, matcher } = deps;
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

  /** For a person, unless the claims can still match it. */
  const receiveOfNoFlow = async (event: ReceivedEvent): Promise<Receipt> => {
    const receipt = await inbox.receive(event);
    if (event.toMatch === true && receipt.kind === 'stored') matcher.nudge(event.proof !== null);
    return receipt;
  };

  const nudge = (receipt: Receipt): Receipt => {
    if (receipt.kind === 'stored') dispatcher.nudge();
    return receipt;
  };

  return (event) => {
    const { flowId } = event;
    if (flowId === null) return receiveOfNoFlow(event);
    const first = firsts.get(flowId);
    if (first !== undefined) first.moreCame = true;
    const place = first === undefined ? dispatcher.reserve(flowId, event.proof !== null) : undefined;
    return place === undefined ? inbox.receive(event).then(nudge) : receiveFirst(flowId, event, place);
  };
}

import type { AuditNote, AuditStore } from '../../store/audit.js';

/** An order to pay, under the id that is the same for the same payment. */
export type PayOrder = Omit<AuditNote, 'kind' | 'action' | 'details'> & {
  readonly flowId: string;
  readonly subject: string;
};

/** Resolves once the audit log has the order. @throws StoreUnavailableError: then it must not be given */
export type RecordPayOrder = (order: PayOrder) => Promise<void>;

/**
 * Records each order to pay once, however often and at however many connections it is repeated: the log is kept for
 * ever. If the order was refused since, it is recorded again, so that the log does not end with a refusal of a payment
 * that was made.
 *
 * The orders to one flow are recorded one after another, in this process. Two gateways that get the same order at once
 * may each record it, with the same subject.
 */
export function createPayOrders(audit: Pick<AuditStore, 'append' | 'list'>): RecordPayOrder {
  /** By flow: its newest order that is being recorded. */
  const recording = new Map<string, Promise<void>>();
  return (order) => {
    const { flowId } = order;
    const before = recording.get(flowId) ?? Promise.resolve();
    const recorded = before.catch(() => undefined).then(() => recordOnce(audit, order));
    recording.set(flowId, recorded);
    const forget = () => void (recording.get(flowId) === recorded && recording.delete(flowId));
    recorded.then(forget, forget);
    return recorded;
  };
}

async function recordOnce(audit: Pick<AuditStore, 'append' | 'list'>, order: PayOrder): Promise<void> {
  const { flowId, actor, subject } = order;
  const newest = async (kind: 'order' | 'refused') => {
    const entries = await audit.list({ flowId, actor, kind, limit: 100 });
    return entries.find((entry) => entry.subject === subject)?.seq ?? 0;
  };
  const [ordered, refused] = await Promise.all([newest('order'), newest('refused')]);
  if (ordered <= refused) await audit.append({ ...order, kind: 'order', action: 'pay' });
}

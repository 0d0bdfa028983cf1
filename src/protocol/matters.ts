import { FLOW_KINDS, type FlowState } from './vocabulary.js';

/** What a person is notified about: a parked flow, or something that must not happen. */
const MATTER_KINDS = [
  /** A flow waits for a person; resolved when it goes on. */
  'parked',
  /** One person's order waits for a second one; resolved when it is carried out or withdrawn. */
  'proposed',
  /** The callbacks of a flow could not be delivered in days; resolved when they are sent again. */
  'callback_undelivered',
  /** The service executed a payment that was, or may have been, declared not executed; resolved when acknowledged. */
  'late_answer_contradicts',
  /** A proven event says that a flow ended otherwise than it did; resolved when acknowledged. */
  'late_event_contradicts',
  /** An event cannot be decrypted, so its content is unknown. */
  'event_quarantined',
  /** A row that is not a matter of ours, so its content is unknown. */
  'matter_unreadable',
] as const;
export type MatterKind = (typeof MATTER_KINDS)[number];

/** No personal data, no evidence, no text of a person or of the service. */
export interface MatterContent {
  readonly kind: MatterKind;
  /** Undefined for an event whose flow is not known. */
  readonly flowId?: string;
  /** Since when, ISO 8601. */
  readonly since: string;
  /** Why it is parked; of a proposed order, its action. */
  readonly reason?: string;
  /** Orders that a person may give. */
  readonly actions?: readonly string[];
  /** Decimal string; unknown of flows that another Temporal client started. */
  readonly amount?: string;
  readonly currency?: string;
  /** The operation of a late answer. */
  readonly operation?: string;
  /** The inbox row of a late or quarantined event. */
  readonly eventId?: string;
  /** Until when a proposed order can be confirmed. */
  readonly until?: string;
  /** How the flow had ended. */
  readonly ended?: FlowState;
  /** The process that sends notifications cannot decrypt the rest. */
  readonly unreadable?: true;
}

/** One matter is one notification, however often and by which process it is found. */
export const parkedMatterId = (flowId: string, since: string): string => `parked/${flowId}/${since}`;
export const proposedMatterId = (orderId: string, flowId: string): string => `proposed/${orderId}/${flowId}`;
export const undeliveredMatterId = (flowId: string): string => `callback_undelivered/${flowId}`;

/** The content that the id alone gives, if the rest cannot be decrypted: people must be notified nevertheless. */
export function contentOfMatterId(id: string, openedAt: string): MatterContent {
  const [first, ...rest] = id.split('/');
  const kind = MATTER_KINDS.find((one) => one === first) ?? 'matter_unreadable';
  const at = rest.findIndex((part) => FLOW_KINDS.some((flowKind) => flowKind === part));
  const [flowKind, reference, since = openedAt] = at === -1 ? [] : rest.slice(at);
  const flow = reference === undefined ? {} : { flowId: `${flowKind}/${reference}` };
  const event = at === -1 && rest.length === 1 ? { eventId: rest.join() } : {};
  return { kind, ...flow, ...event, since, unreadable: true };
}

/** What came afterwards says otherwise than the flow: resolved when a person acknowledges it. */
export const isContradiction = ({ kind }: Pick<MatterContent, 'kind'>): boolean =>
  kind === 'late_answer_contradicts' || kind === 'late_event_contradicts';

/** These wait for something: until it happens, reminders are sent. The others are sent once. */
export const isLasting = (content: Pick<MatterContent, 'kind'>): boolean =>
  content.kind === 'parked' || content.kind === 'callback_undelivered' || isContradiction(content);

import { FLOW_KINDS } from './vocabulary.js';

/** What a person is notified of: a flow that is parked, or something that must not happen. */
export const MATTER_KINDS = [
  /** A flow waits for a person; resolved when it goes on. */
  'parked',
  /** The callbacks of a flow could not be delivered in days; resolved when they are sent again. */
  'callback_undelivered',
  /** The service executed what was said, or may have been said, not to be executed. */
  'late_answer_contradicts',
  /** A proven event says that a flow ended otherwise than it did. */
  'late_event_contradicts',
  /** An event cannot be opened: what it says is unknown. */
  'event_quarantined',
  /** A row that is no matter of ours: what it says is unknown. */
  'matter_unreadable',
] as const;
export type MatterKind = (typeof MATTER_KINDS)[number];

/** No personal data, no evidence, no text of a person or of the service. */
export interface MatterContent {
  readonly kind: MatterKind;
  /** Undefined of an event whose flow is not known. */
  readonly flowId?: string;
  /** Since when, ISO 8601. */
  readonly since: string;
  /** Why it is parked. */
  readonly reason?: string;
  /** What a person may order. */
  readonly actions?: readonly string[];
  /** Decimal string; unknown of flows that another Temporal client started. */
  readonly amount?: string;
  readonly currency?: string;
  /** The operation of a late answer. */
  readonly operation?: string;
  /** The inbox row of a late or quarantined event. */
  readonly eventId?: string;
  /** What else there is to say cannot be opened by the process that notifies. */
  readonly unreadable?: true;
}

/** One matter is one notification, however often and by whom it is found. */
export const parkedMatterId = (flowId: string, since: string): string => `parked/${flowId}/${since}`;
export const undeliveredMatterId = (flowId: string): string => `callback_undelivered/${flowId}`;

/** What the id says by itself, if the content cannot be opened: one that is missing must not keep people from being called. */
export function contentOfMatterId(id: string, openedAt: string): MatterContent {
  const [first, ...rest] = id.split('/');
  const kind = MATTER_KINDS.find((one) => one === first) ?? 'matter_unreadable';
  const at = rest.findIndex((part) => FLOW_KINDS.some((flowKind) => flowKind === part));
  const [flowKind, reference, since = openedAt] = at === -1 ? [] : rest.slice(at);
  const flow = reference === undefined ? {} : { flowId: `${flowKind}/${reference}` };
  const event = at === -1 && rest.length === 1 ? { eventId: rest.join() } : {};
  return { kind, ...flow, ...event, since, unreadable: true };
}

/** They wait for something: until it happens, whoever does not act is reminded. The others are said once. */
export const isLasting = ({ kind }: Pick<MatterContent, 'kind'>): boolean =>
  kind === 'parked' || kind === 'callback_undelivered';

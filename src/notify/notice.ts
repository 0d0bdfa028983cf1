import { shellWord } from '../protocol/shell-word.js';
import { PARK_SENTENCES, parseFlowId, type ParkReason } from '../protocol/vocabulary.js';
import type { MatterContent, MatterKind } from '../protocol/matters.js';

/** The content of one notification, in any form. */
export interface Notice {
  /** The matter's id: the same for all its notifications. */
  readonly matterId: string;
  readonly event: 'opened' | 'reminder' | 'resolved' | 'test';
  /** 0: the first notification; each reminder adds one. */
  readonly level: number;
  readonly content: MatterContent;
  readonly sentence: string;
  /** A page of the repository that says what to check and what each action does: its path, or its URL. */
  readonly runbook: string;
  readonly links: Links;
}

export interface Links {
  /** The flow in the console. */
  readonly console?: string;
  /** The flow as JSON, for programs: it needs a token. */
  readonly flow?: string;
  /** The flow in the Temporal UI. */
  readonly temporal?: string;
  /** To be typed. */
  readonly command?: string;
}

/** Addresses at which people read flows. */
export interface Places {
  readonly gatewayUrl: string;
  readonly namespace: string;
  /** Of the Temporal UI. */
  readonly uiUrl?: string;
  /** Of this repository's files. */
  readonly docsUrl?: string | undefined;
}

const SENTENCES: Readonly<Record<Exclude<MatterKind, 'parked'>, string>> = {
  proposed: 'An order waits for a second person.',
  callback_undelivered: 'A callback could not be delivered to its receiver in three days.',
  late_answer_contradicts:
    'ALARM: the service executed a payment under a claim that said, or may have said, that nothing moves.',
  late_event_contradicts: 'ALARM: a proven event says that this flow ended otherwise than it did.',
  event_quarantined: 'ALARM: an event cannot be opened. What it says is unknown.',
  matter_unreadable: 'ALARM: a notification is due, and its content cannot be read.',
};
const UNREADABLE = 'The rest cannot be opened here: a payload key is missing, or the row was changed.';

export function sentenceOf({ kind, reason, unreadable }: MatterContent): string {
  const sentence = kind === 'parked' ? parkSentence(reason) : SENTENCES[kind];
  return unreadable === undefined ? sentence : `${sentence} ${UNREADABLE}`;
}

function parkSentence(reason: string | undefined): string {
  return (reason !== undefined && PARK_SENTENCES[reason as ParkReason]) || 'A flow waits for a person.';
}

/** The page and section about a matter of this kind. */
function runbookOf({ kind, reason, unreadable }: MatterContent): string {
  if (unreadable !== undefined) return 'docs/runbook.md#matter_unreadable';
  if (kind === 'parked') return `docs/parked-flows.md#${reason ?? ''}`;
  if (kind === 'proposed') return 'docs/access.md#a-second-person';
  return `docs/runbook.md#${kind}`;
}

export const pageAt = ({ docsUrl }: Places, path: string): string =>
  docsUrl === undefined ? path : `${docsUrl}/${path}`;

export function noticeOf(
  { id, content }: { readonly id: string; readonly content: MatterContent },
  { event, level }: Pick<Notice, 'event' | 'level'>,
  places: Places,
): Notice {
  return {
    matterId: id,
    event,
    level,
    content,
    sentence: sentenceOf(content),
    runbook: pageAt(places, runbookOf(content)),
    links: linksOf(content, places),
  };
}

function linksOf({ flowId, eventId }: MatterContent, { gatewayUrl, namespace, uiUrl }: Places): Links {
  if (flowId === undefined)
    return eventId === undefined ? {} : { command: `towline events show ${shellWord(eventId)}` };
  const id = parseFlowId(flowId);
  return {
    ...(id !== undefined && {
      // As the page reads it: with decodeURI.
      console: `${gatewayUrl}/console#/flow/${encodeURI(flowId)}`,
      flow: `${gatewayUrl}/flows/${id.kind}/${encodeURIComponent(id.reference)}`,
    }),
    ...(uiUrl === undefined
      ? {}
      : { temporal: `${uiUrl}/namespaces/${namespace}/workflows/${encodeURIComponent(flowId)}` }),
    command: `towline show ${shellWord(flowId)}`,
  };
}

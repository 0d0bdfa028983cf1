import type { FlowView, Parked, TimelineEntry } from '../../src/api/flow.js';
import { PARK_SENTENCES } from '../../src/protocol/vocabulary.js';
import { MAX_TIMELINE } from './policies.js';

/** Latest entries of the timeline that are shown. */
const SHOWN = 12;

/**
 * The workflow's current details in the Temporal UI, which is Markdown, and which the UI sends decrypted to its own
 * server, in a URL. So they have words of ours alone: no text, name, word or evidence of others could be kept from the
 * logs there, or from being a link. The console and `towline show` have the rest.
 */
export function currentDetails(view: FlowView): string {
  const reference = view.reference.replaceAll(/[^A-Za-z0-9._:/-]/g, '?');
  const paragraphs = [`**${view.kind}** \`${reference}\` is **${view.state}** (${view.stage})`];
  const reason = view.outcome?.reason ?? null;
  if (reason !== null) paragraphs.push(`\`${reason}\``);
  if (view.parked !== null) paragraphs.push(...parkedInWords(view.parked));
  if (view.outcome === null && view.parked === null) paragraphs.push(`Deadline: ${view.deadlineAt ?? 'none'}`);
  paragraphs.push(view.timeline.slice(-SHOWN).map(line).join('\n'));
  return paragraphs.join('\n\n');
}

const parkedInWords = ({ reason, since, actions }: Parked): string[] => [
  `**${PARK_SENTENCES[reason]}** (\`${reason}\`, since ${since})`,
  `A person decides: ${actions.map((action) => `\`${action}\``).join(', ')}`,
];

/** `2026-01-31T12:30:15.123Z` as `01-31 12:30:15`: the year and the milliseconds are of no use there. */
const line = ({ at, stage, code }: TimelineEntry): string =>
  `- ${at.slice(5, 10)} ${at.slice(11, 19)} · ${stage} · ${code}`;

/** Adds an entry; past the limit the middle is dropped, since the beginning and the latest matter most. */
export function withEntry(timeline: readonly TimelineEntry[], entry: TimelineEntry): readonly TimelineEntry[] {
  const next = [...timeline, entry];
  if (next.length <= MAX_TIMELINE) return next;
  const head = next.slice(0, MAX_TIMELINE / 2);
  return [...head, ...next.slice(head.length + 1)];
}

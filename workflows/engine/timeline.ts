import type { FlowView, Parked, TimelineEntry } from '../../src/protocol/messages.js';
import { termsInWords } from '../../src/protocol/terms.js';
import { PARK_SENTENCES } from '../../src/protocol/vocabulary.js';
import { MAX_TIMELINE } from './policies.js';

/** Latest entries of the timeline that are shown. */
const SHOWN = 12;

/** The workflow's current details in the Temporal UI: Markdown that a person on call understands. */
export function currentDetails(view: FlowView): string {
  const paragraphs = [`**${view.kind} ${view.reference}** is **${view.state}** (${view.stage})`];
  if (view.terms !== null) paragraphs.push(...termsInWords(view.terms));
  if (view.outcome !== null) {
    paragraphs.push(
      view.outcome.reason === null ? view.outcome.detail : `\`${view.outcome.reason}\`: ${view.outcome.detail}`,
    );
  }
  if (view.parked !== null) paragraphs.push(...parkedInWords(view.parked));
  if (view.serviceReference !== null) paragraphs.push(`Reference at the service: \`${view.serviceReference}\``);
  if (view.outcome === null && view.parked === null) paragraphs.push(`Deadline: ${view.deadlineAt ?? 'none'}`);
  paragraphs.push(view.timeline.slice(-SHOWN).map(line).join('\n'));
  return paragraphs.join('\n\n');
}

function parkedInWords({ reason, since, actions, evidence }: Parked): string[] {
  return [
    `**${PARK_SENTENCES[reason]}** (\`${reason}\`, since ${since})`,
    `A person decides: ${actions.map((action) => `\`${action}\``).join(', ')}`,
    ['```json', JSON.stringify(evidence, null, 1), '```'].join('\n'),
  ];
}

/** `2026-01-31T12:30:15.123Z` as `01-31 12:30:15`: the year and the milliseconds are of no use there. */
function line({ at, stage, by, detail }: TimelineEntry): string {
  return `- ${at.slice(5, 10)} ${at.slice(11, 19)} · ${stage} · ${by}: ${detail}`;
}

/** Adds an entry; past the limit the middle is dropped, since the beginning and the latest matter most. */
export function withEntry(timeline: readonly TimelineEntry[], entry: TimelineEntry): readonly TimelineEntry[] {
  const next = [...timeline, entry];
  if (next.length <= MAX_TIMELINE) return next;
  const head = next.slice(0, MAX_TIMELINE / 2);
  return [...head, ...next.slice(head.length + 1)];
}

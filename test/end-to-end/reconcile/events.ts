import { at, digest, parsed } from './json.js';
import { groupBy } from './group-by.js';
import { isAnswered2xx, type PostedEvent, postedEvents } from './posted-events.js';
import type { InboxFact, Violation, Witnesses } from './witnesses.js';

const OPEN = ['waiting', 'delivered'];
const KNOWN = [...OPEN, 'applied', 'duplicate', 'unverified', 'late', 'unmatched', 'conflicting'];

/**
 * I15, delivery by delivery: an event that was answered 2xx is in the inbox with its content, as a row or as a repeat
 * of one, and no event of the service is refused for good. I5: the inbox holds nothing that did not come; no event of a
 * known flow stays open; and each event is applied once, to one flow.
 */
export function eventsAccountedFor(witnesses: Witnesses): readonly Violation[] {
  const { inbox, flows } = witnesses;
  const found: string[] = [];
  const known = new Set(flows.map(({ flowId }) => flowId));
  for (const { flowId, state, status } of inbox) {
    if (!KNOWN.includes(state)) found.push(`an event of ${flowId} is in the state ${state}`);
    if (flowId !== null && known.has(flowId) && OPEN.includes(state)) {
      found.push(`${status} of ${flowId} is still ${state}`);
    }
    if (state === 'applied' && !known.has(flowId ?? ''))
      found.push(`${status} was applied to ${flowId}, which is no flow`);
  }
  const applied = groupBy(
    inbox.filter(({ state, body }) => state === 'applied' && body !== undefined),
    ({ source, body }) => `${source} ${digest(contentOf(body))}`,
  );
  for (const rows of applied.values()) {
    const to = [...new Set(rows.map(({ flowId }) => flowId))];
    if (to.length > 1) found.push(`one event was applied to ${to.join(' and ')}`);
    else if (rows.length > 1) found.push(`${rows[0]?.status} of ${to[0]} was applied ${rows.length} times`);
  }
  return [...eachIsKept(witnesses), ...noneIsRefused(witnesses), ...found.map((what) => ({ invariant: 'I5', what }))];
}

/** A sender gives up after one of these. */
const FOR_GOOD = [300, 301, 302, 303, 307, 308, 400, 403, 404, 405, 410, 411, 413, 415];

function noneIsRefused(witnesses: Witnesses): readonly Violation[] {
  return postedEvents(witnesses).flatMap(({ isGenuine, answers, status, source, reference }) => {
    const refusals = isGenuine ? answers.filter((answer) => answer !== null && FOR_GOOD.includes(answer)) : [];
    if (refusals.length === 0) return [];
    const what = `${status} at ${source} of ${reference} is genuine, and was answered ${refusals.join(', ')}`;
    return [{ invariant: 'I15', what }];
  });
}

function eachIsKept(witnesses: Witnesses): readonly Violation[] {
  const posted = groupBy(postedEvents(witnesses), ({ source, flowId, body }) => keyOf(source, parsed(body), flowId));
  const rows = groupBy(witnesses.inbox, ({ source, flowId, body }) => keyOf(source, body, flowId));
  return [...new Set([...posted.keys(), ...rows.keys()])].flatMap((key) => {
    const copies = posted.get(key) ?? [];
    const kept = (rows.get(key) ?? []).reduce((sum, { repeats }) => sum + 1 + repeats, 0);
    const answers = copies.flatMap((copy) => copy.answers);
    const taken = answers.filter(isAnswered2xx).length;
    // These may have been stored as well: the answer was lost, said that storing had failed, or came from a process that
    // was frozen while the event arrived.
    const unsure = answers.filter((status) => status === null || status === 408 || status >= 500).length;
    if (kept >= taken && kept <= taken + unsure) return [];
    const named = describe(copies[0], rows.get(key)?.[0]);
    const what = `${named} was answered 2xx ${taken} times (${unsure} times not, or with 408 or 5xx), and is kept ${kept} times`;
    return [{ invariant: kept < taken ? 'I15' : 'I5', what }];
  });
}

/** A callback belongs to the flow of its path; for the other sources, only the body shows the flow. */
function keyOf(source: string, body: unknown, flowId: string | null = null): string {
  return `${source} ${source === 'callback' ? flowId : ''} ${digest(contentOf(body))}`;
}

/** A signature in the body is not content: a repetition with a secret has one, while the first had none. */
export function contentOf(body: unknown): unknown {
  if (at(body, 'signature') === undefined) return body;
  return Object.fromEntries(Object.entries(body as object).filter(([name]) => name !== 'signature'));
}

function describe(posted: PostedEvent | undefined, row: InboxFact | undefined): string {
  if (posted !== undefined) return `${posted.status} at ${posted.source} of ${posted.reference}`;
  return `${row?.status} at ${row?.source} of ${row?.flowId}`;
}

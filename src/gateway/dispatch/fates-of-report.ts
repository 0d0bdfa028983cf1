import type { FlowReport } from '../../flows/messages.js';
import type { Fate } from '../../store/inbox.js';
import { rowIdOf } from '../../flows/event-of-row.js';

const DETAILS: Readonly<Record<Fate['state'], string>> = {
  applied: 'The flow applied it.',
  duplicate: 'The flow knew this already.',
  unverified: 'The flow keeps it as unverified: nobody has proven where it comes from.',
  conflicting: 'It contradicts what the flow knows.',
  waiting: '',
  delivered: '',
  late: '',
  unmatched: '',
};

/** What became of the wanted rows, as far as the flow's report names their events. */
export function fatesOf(report: FlowReport, wanted: ReadonlySet<string>): Fate[] {
  const byRow = new Map<string, Fate['state']>();
  for (const [eventId, fate] of Object.entries(report.events)) {
    const id = rowIdOf(eventId);
    // A row that a person vouched for was delivered twice: the second fate counts, unless the first says more. Where the
    // second one was applied, the flow has made the first one its duplicate.
    const earlier = byRow.get(id);
    const saysMore =
      earlier === undefined || earlier === 'unverified' || (earlier === 'duplicate' && fate === 'applied');
    if (wanted.has(id) && saysMore) byRow.set(id, fate);
  }
  return [...byRow].map(([id, state]) => ({ id, state, detail: DETAILS[state] }));
}

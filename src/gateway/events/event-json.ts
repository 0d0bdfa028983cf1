import type { InboxRow } from '../../store/inbox.js';

/** An inbox row as JSON. The body may hold names and phone numbers: only who may resolve sees it. */
export function eventJson(row: InboxRow, options: { readonly withBody: boolean }) {
  const { contentHash: _hash, body, ...shown } = row;
  return options.withBody ? { ...shown, body: body ?? null } : shown;
}

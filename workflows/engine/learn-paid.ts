import type { OtherRecord } from '../../src/flows/echoes.js';
import { isPaid, NOT_SENT, type Known, type PaidResult, type Reading, type Request } from './known.js';
import { inNewTurn } from './take-events.js';

export function withRequest(known: Known, name: string, change: Partial<Request>): Known {
  const request = known.requests[name];
  return request === undefined
    ? known
    : { ...known, requests: { ...known.requests, [name]: { ...request, ...change } } };
}

/** An invoice that the service made: only the one that was asked for is paid. */
export function compared(known: Known, name: string, other: OtherRecord | null): Known {
  const { shown } = known.requests[name] ?? NOT_SENT;
  const says = other === null ? 'ours' : 'other';
  return inNewTurn(withRequest(known, name, { compared: says, shown: { ...shown, other: other ?? shown.other } }));
}

/** What the lookup has once shown as paid stays so: a lower status after that is of an older copy. */
export function paid(
  known: Known,
  name: string,
  found: PaidResult,
  when: Pick<Reading<unknown>, 'askedAtMs' | 'turn'>,
): Known {
  const before = known.requests[name];
  if (before === undefined) return known;
  const wasShown = isPaid(before.paid);
  const isNew = isPaid(found) && !wasShown;
  const { word } = found;
  const next = withRequest(known, name, {
    paid: { says: wasShown ? (before.paid?.says ?? found.says) : found.says, ...when },
    unaskable: null,
    isOther: before.isOther || found.says === 'other',
    words: isNew && word !== null && !before.words.includes(word) ? [...before.words, word] : before.words,
    word: isNew ? word : before.word,
    shown: { ...before.shown, ...found.shown },
  });
  return isNew ? inNewTurn(next) : next;
}

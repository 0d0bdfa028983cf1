import { ELSEWHERE } from '../../harness/kinds.js';
import type { Journal } from '../driver/driver.js';
import type { Delivered } from '../world/deliveries.js';
import type { WireEntry } from '../world/service-port.js';
import { units, type Book } from './book.js';
import type { LostTime } from '../world/world.js';
import { violation, type Ended } from './safety.js';
import type { Violation } from './violation.js';
import type { InboxRow } from '../../../src/protocol/events.js';

export interface RestFacts {
  readonly book: Book;
  readonly journal: Journal;
  readonly ended: readonly Ended[];
  /** Of open flows: their state as listings show it. */
  readonly open: ReadonlyMap<string, string>;
  /** The whole inbox. */
  readonly rows: readonly InboxRow[];
  readonly wire: readonly WireEntry[];
  readonly deliveries: readonly Delivered[];
  /** What came in between a backup and its restore is gone. */
  readonly lost: readonly LostTime[];
  /** Nothing was to go wrong in this run. */
  readonly isCalm: boolean;
}

/** What must hold when everything planned has happened. */
export function restViolations(facts: RestFacts): readonly Violation[] {
  return [
    ...allAccountedFor(facts),
    ...executedWhereDone(facts),
    ...asOrdered(facts),
    ...booksAgree(facts),
    ...eventsAccountedFor(facts),
    ...quotesInTime(facts),
    ...calmRunsComplete(facts),
  ];
}

/** I2: every flow that was started has ended, or waits for a person. */
function allAccountedFor({ journal, ended, open }: RestFacts): readonly Violation[] {
  return journal.flows.flatMap(({ flowId, acknowledgedAtMs }) => {
    const state = open.get(flowId);
    if (acknowledgedAtMs === undefined || state === 'parked') return [];
    // One that had ended may run again, after a reset.
    if (state === undefined && ended.some((one) => one.flowId === flowId)) return [];
    return [violation('I2', `${flowId} has neither ended nor parked`, 'ended or parked', state ?? 'not there')];
  });
}

/** Exactly one execution if a flow says that money moved, without a person who marked it so. */
function executedWhereDone({ book, journal, ended }: RestFacts): readonly Violation[] {
  const executions = book.executions();
  return journal.flows.flatMap(({ flowId, money, reference }) => {
    const state = ended.find((one) => one.flowId === flowId)?.state;
    if (money === null || (state !== 'completed' && state !== 'refunded')) return [];
    const marked = journal.orders.some((order) => order.flowId === flowId && order.action.startsWith('mark-'));
    const times = executions.filter((one) => one.operation === money && one.reference === reference).length;
    if (times > 0 || marked) return [];
    return [violation('I1', `${flowId} is ${state}`, `${money} executed once`, 'no execution')];
  });
}

/** I13: each execution is one that the driver ordered, with its amount, its currency and its receiver. */
function asOrdered({ book, journal, wire }: RestFacts): readonly Violation[] {
  const ordered = journal.flows.flatMap((flow) => flow.ordered);
  return book.executions().flatMap(({ operation, reference, amount, currency }) => {
    const order = ordered.find((one) => one.operation === operation && one.reference === reference);
    const what = `${operation} of ${reference}`;
    if (order === undefined) return ELSEWHERE.includes(operation) ? [] : [violation('I13', what, 'no such order', `${amount} ${currency}`)]; // prettier-ignore
    const isRefund = reference.endsWith('.refund');
    const isAmount = isRefund ? units(amount) <= units(order.amount) : units(amount) === units(order.amount);
    const found: Violation[] = [];
    if (!isAmount || currency !== order.currency) {
      found.push(violation('I13', `${what} moved another amount`, `${order.amount} ${order.currency}`, `${amount} ${currency}`)); // prettier-ignore
    }
    const sent = wire.filter((entry) => entry.operation === operation && JSON.stringify(entry.body).includes(`"${reference}"`)); // prettier-ignore
    const receiver = isRefund ? book.fallbackOf(reference.replace(/\.refund$/, '')) : order.receiver;
    const elsewhere = receiver === undefined ? [] : sent.filter(({ body }) => !JSON.stringify(body).includes(receiver));
    if (elsewhere.length > 0) found.push(violation('I13', `${what} went to another receiver`, receiver ?? '', JSON.stringify(elsewhere[0]?.body))); // prettier-ignore
    return found;
  });
}

/**
 * I7: the books of the service and the wire between us agree: no execution without a request, none hidden by a refusal.
 */
function booksAgree({ book, wire, journal }: RestFacts): readonly Violation[] {
  const executions = book.executions();
  const ordered = journal.flows.flatMap((flow) => flow.ordered);
  return ordered.flatMap(({ operation, reference }) => {
    const executed = executions.filter((one) => one.operation === operation && one.reference === reference).length;
    const requests = wire.filter(
      (entry) => entry.operation === operation && JSON.stringify(entry.body ?? null).includes(`"${reference}"`),
    );
    const accepted = requests.filter(({ httpStatus, answer }) => httpStatus < 300 && answer.includes('"success":true'));
    const what = `${operation} of ${reference}`;
    if (executed > accepted.length) return [violation('I7', what, `${accepted.length} accepted on the wire`, `${executed} in the books`)]; // prettier-ignore
    if (accepted.length > 0 && executed === 0) return [violation('I7', what, 'an execution', 'accepted, and not in the books')]; // prettier-ignore
    return [];
  });
}

/**
 * I5: each genuine delivery that was answered 2xx or came too late is in the inbox, and no event of a known flow stays
 * open there, unless the flow has it and waits for a person: one that parked before its first send takes none.
 */
function eventsAccountedFor({ rows, deliveries, journal, lost, open }: RestFacts): readonly Violation[] {
  const found: Violation[] = [];
  const known = new Set(journal.flows.map(({ flowId }) => flowId));
  for (const { flowId, state, status } of rows) {
    const isLeft = state === 'waiting' || (state === 'delivered' && open.get(flowId ?? '') !== 'parked');
    if (known.has(flowId ?? '') && isLeft) {
      found.push(violation('I5', `${String(status)} of ${String(flowId)} is left open`, 'settled', state));
    }
  }
  const stored = new Map<string, number>();
  for (const { flowId, body, repeats } of rows) {
    const key = `${flowId} ${contentOf(body)}`;
    stored.set(key, (stored.get(key) ?? 0) + 1 + repeats);
  }
  const arrived = new Map<string, { least: number; most: number }>();
  for (const { atMs, answeredAtMs = atMs, path, body, httpStatus, isForged } of deliveries) {
    const key = `${flowOf(path, body)} ${contentOf(JSON.parse(body))}`;
    const counted = arrived.get(key) ?? { least: 0, most: 0 };
    // The signature of a genuine one that is refused is too old: it is kept without proof.
    const isStale = httpStatus === 401 && !isForged;
    const isTaken = isStale || (httpStatus !== undefined && httpStatus < 300);
    // Without an answer, or after one of a failed store, it may be there nevertheless.
    const mayBe = isTaken || httpStatus === undefined || httpStatus >= 500;
    // Its row may have been written after the copy that was restored, though it arrived before.
    const isLost = lost.some(({ fromMs, toMs }) => fromMs <= answeredAtMs && atMs <= toMs);
    arrived.set(key, { least: counted.least + (isTaken && !isLost ? 1 : 0), most: counted.most + (mayBe ? 1 : 0) });
  }
  for (const [key, { least, most }] of arrived) {
    const times = stored.get(key) ?? 0;
    if (times < least || times > most) found.push(violation('I5', `deliveries of ${key.slice(0, 200)}`, `${least} to ${most} in the inbox`, String(times))); // prettier-ignore
  }
  return found;
}

/** An event's content in one spelling: its members in order, without the signature beside them. */
function contentOf(body: unknown): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (typeof value !== 'object' || value === null) return typeof value === 'number' ? String(value) : value;
    const members = Object.entries(value).filter(([name]) => name !== 'signature');
    return Object.fromEntries(
      members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, sorted(inner)]),
    );
  };
  return JSON.stringify(sorted(body));
}

/** A callback belongs to the flow of its path, a settlement to the one that its body names. */
function flowOf(path: string, body: string): string {
  const [, first, kind, reference] = path.split('/');
  if (first === 'callbacks') return `${kind}/${reference}`;
  const named = /"provider_reference_id":"([^"]*)"/.exec(body)?.[1];
  return named === undefined ? 'null' : `bridge-transfer/${named}`;
}

const QUOTE_LIVES_MS = 60_000;

/** A quote lives for a minute: an expired one is never sent. */
function quotesInTime({ wire }: RestFacts): readonly Violation[] {
  return wire.flatMap(({ operation, body, leftAtMs }) => {
    const rate = operation === 'createBridgeDeposit' ? body?.['rate_id'] : undefined;
    if (typeof rate !== 'string') return [];
    const quoted = wire.find((entry) => entry.operation === 'quoteBridge' && entry.answer.includes(`"${rate}"`));
    const ageMs = quoted === undefined ? 0 : leftAtMs - quoted.atMs;
    if (ageMs <= QUOTE_LIVES_MS) return [];
    return [violation('quote', `the quote ${rate} was sent`, `within ${QUOTE_LIVES_MS} ms`, `after ${ageMs} ms`)];
  });
}

/** A run without faults: what the service completes is completed. */
function calmRunsComplete({ isCalm, journal, ended }: RestFacts): readonly Violation[] {
  if (!isCalm) return [];
  return journal.flows.flatMap(({ flowId, ending, kind }) => {
    const state = ended.find((one) => one.flowId === flowId)?.state;
    const isPlain = ending === 'completed' || ending === 'no-callbacks-ever';
    // If there is no lookup, a service that never calls back is a matter for a person.
    const onlyEvents = ['bank-checkout', 'card-deposit', 'bank-withdrawal'].includes(kind) && ending !== 'completed';
    // A person may cancel a flow before anything was sent.
    if (!isPlain || onlyEvents || state === 'completed' || state === 'cancelled') return [];
    return [violation('calm', `${flowId} without any fault`, 'completed', state ?? 'not ended')];
  });
}

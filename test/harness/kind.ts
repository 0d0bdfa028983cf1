import type { MoneyOperationName } from '../../src/contract/index.js';
import type { ParkReason } from '../../src/protocol/vocabulary.js';

/**
 * A flow kind as the tests start, move, simulate, record and reconcile it: one file each, `test/kinds/<kind>.ts`. It
 * says what a person reads in the service's interface, and uses none of the code that it checks.
 */
export interface KindUnderTest {
  /** The type of the kind. The shared tests and the recorded scenes are those of its type; for `own`, its own. */
  readonly like: 'watched' | 'looked-up' | 'by-events' | 'own';
  /** Whether the service has a lookup for it; else only events report. */
  readonly hasLookup: boolean;
  /** The operation whose record at the service shows how such a flow ended. */
  readonly record: string;
  /** Its POSTs, in order; none if it only watches. */
  readonly posts: Readonly<Partial<Record<MoneyOperationName, Post>>>;
  /** What is begun elsewhere before it: at the sandbox's control interface, and booked there as `record`. */
  readonly begunBy?: (reference: string) => { readonly path: string; readonly body: Readonly<Record<string, unknown>> };
  /** An order over HTTP. It contains a card, which is never in the input of a flow. */
  readonly input: (reference: string) => Record<string, unknown>;
  /** Additional members of a simulated order, by chance. */
  readonly varied?: (chance: { yes(probability: number): boolean }) => Record<string, unknown>;
  /** What the driver orders, in its own words: what the service's books must show, and nothing else. */
  readonly ordered: (reference: string) => readonly Ordered[];
  /** The sandbox's ending in which it stays open, and the statuses that move it from there to its success. */
  readonly open: { readonly ending: string; readonly rest: readonly string[] };
  /** The sandbox's ending in which nothing is paid. */
  readonly fails: { readonly ending: string; readonly reason: string };
  /** The ending in which the service gives back what was paid, if there is one. */
  readonly refunds?: string;
  /** Further endings in the simulation, besides `completed`. */
  readonly endings: readonly string[];
  /** Why it parks if nothing has ended it by its deadline. */
  readonly overdue: ParkReason;
  /** How often it asks the service before any event hints. @default 0 */
  readonly asksAtStart?: number;
}

/** One POST of a kind, as the service's interface has it. */
export interface Post {
  readonly path: string;
  /** Its step in the kind's definition; null for the bridge, which has its own flow. */
  readonly step: string | null;
  /** Members of the request that the service keeps, by their paths in the order. Of several paths, one is used. */
  readonly terms: Readonly<Record<string, readonly string[]>>;
  /** Paths in the order of what the service's books call amount and currency. */
  readonly booked: readonly [amount: string, currency: string];
  /** If there is no lookup: the status of the sandbox's record at which an event reports it. */
  readonly reportedAt?: string;
  /** The input of a flow that makes this one alone, after another one that was made elsewhere. @default the kind's input */
  readonly alone?: {
    readonly input: (reference: string) => Record<string, unknown>;
    readonly after: { readonly operation: MoneyOperationName; readonly body: (reference: string) => unknown };
  };
}

/** One movement of money that the driver ordered. */
export interface Ordered {
  readonly operation: string;
  readonly reference: string;
  readonly amount: string;
  readonly currency: string;
  /** A text that the request to the service must contain. */
  readonly receiver?: string;
}

/** Members that the order calls as the request does. */
export const same = (...members: readonly string[]): Post['terms'] =>
  Object.fromEntries(members.map((member) => [member, [member]]));

/** The input of a flow itself: without the card, which the gateway replaces by a token. */
export function flowInput({ input }: KindUnderTest, reference: string): Record<string, unknown> {
  const { card: _card, ...rest } = input(reference);
  return rest;
}

/** The operation whose execution is the movement of money; null if nothing moves. */
export const moneyOf = ({ record, posts }: KindUnderTest): string | null => (record in posts ? record : null);

const MARK = 'the reference';

/** What the input calls the reference. */
export function referenceMember({ input }: KindUnderTest): string {
  const [member] = Object.entries(input(MARK)).find(([, value]) => value === MARK) ?? [];
  if (member === undefined) throw new TypeError('the input of a kind names its reference');
  return member;
}

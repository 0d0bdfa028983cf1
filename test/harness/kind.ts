import type { MoneyOperationName } from '../../src/contract/index.js';
import type { ParkReason } from '../../src/protocol/vocabulary.js';

/**
 * A flow kind as the tests start, move, simulate, record and reconcile it: one file each, `test/kinds/<kind>.ts`. It says
 * what a person reads in the service's interface, and uses nothing of the code that it is a witness of.
 */
export interface KindUnderTest {
  /** Which kinds it is like. The shared tests and the recorded scenes are those of its likes; of `own`, its own. */
  readonly like: 'watched' | 'looked-up' | 'by-events' | 'own';
  /** Whether the service can be asked how it stands; else only events report. */
  readonly hasLookup: boolean;
  /** The operation whose record at the service says how such a flow ended. */
  readonly record: string;
  /** Its POSTs, in their order; none if it only watches. */
  readonly posts: Readonly<Partial<Record<MoneyOperationName, Post>>>;
  /** What is begun elsewhere before it: at the sandbox's control interface, and booked there as `record`. */
  readonly begunBy?: (reference: string) => { readonly path: string; readonly body: Readonly<Record<string, unknown>> };
  /** An order over HTTP. A card stands in it, which is never in the input of a flow. */
  readonly input: (reference: string) => Record<string, unknown>;
  /** What a simulated order has besides, by chance. */
  readonly varied?: (chance: { yes(probability: number): boolean }) => Record<string, unknown>;
  /** What the driver orders, in its own words: what the service's books must show, and nothing else. */
  readonly ordered: (reference: string) => readonly Ordered[];
  /** The sandbox's ending in which it stays open, and by which statuses it is moved from there to its success. */
  readonly open: { readonly ending: string; readonly rest: readonly string[] };
  /** The sandbox's ending in which nothing is paid. */
  readonly fails: { readonly ending: string; readonly reason: string };
  /** The ending in which the service gives back what was paid, if it does. */
  readonly refunds?: string;
  /** What the simulation makes of it besides `completed`. */
  readonly endings: readonly string[];
  /** Why it parks if nothing has ended it by its deadline. */
  readonly overdue: ParkReason;
  /** How often it asks the service before any event hints. @default 0 */
  readonly asksAtStart?: number;
}

/** One POST of a kind, as the service's interface has it. */
export interface Post {
  readonly path: string;
  /** Its step in the kind's definition; null for the bridge, which is a story of its own. */
  readonly step: string | null;
  /**
   * Members of the request that the service keeps, by where the order says them. Of several places in the order, one has it.
   */
  readonly terms: Readonly<Record<string, readonly string[]>>;
  /** Where the order says what the service's books call amount and currency. */
  readonly booked: readonly [amount: string, currency: string];
  /** If nothing can be looked up: the status of the sandbox's record at which an event reports it. */
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
  /** A text that the request to the service must hold. */
  readonly receiver?: string;
}

/** Members that the order calls as the request does. */
export const same = (...members: readonly string[]): Post['terms'] =>
  Object.fromEntries(members.map((member) => [member, [member]]));

/** The input of a flow itself: without the card, in whose place the gateway puts a token. */
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

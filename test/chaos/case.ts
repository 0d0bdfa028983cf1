import type { Violation } from '../end-to-end/reconcile/witnesses.js';
import type { Story } from './stories.js';
import type { Strike } from './world.js';

/** What the run hands to its judge. */
export interface Case {
  readonly temporalAddress: string;
  readonly sandboxUrl: string;
  readonly gatewayUrl: string;
  readonly storePath: string;
  readonly payloadKey: { readonly id: string; readonly base64: string };
  readonly journal: string;
  /** The log of what went over the wire to the service. */
  readonly wire: string;
  /** The same for requests to the gateways. */
  readonly inbound: string;
  readonly strikes: readonly Strike[];
  /** References of flows whose stories are wanted, whatever becomes of them. */
  readonly wanted: readonly string[];
  readonly secrets: readonly string[];
  /** A folder whose files must hold no secret, and no unencrypted personal data. */
  readonly folder: string;
  readonly bundlePath: string;
  /** The same, and it reports the steps and results of the flows; null: that is not wanted. */
  readonly pairsBundlePath: string | null;
  readonly patienceMs: number;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  /** By invariant, of how many things it was checked. */
  readonly checked: Readonly<Record<string, number>>;
  readonly states: Readonly<Record<string, number>>;
  /** Flows that are parked, and what was done to each. */
  readonly parked: readonly { readonly flowId: string; readonly because: readonly string[] }[];
  /** By flow id, of flows that a violation names, and of those that were asked for. */
  readonly stories: Readonly<Record<string, Story>>;
  /** How often a reference was executed: times → references. */
  readonly executions: Readonly<Record<string, number>>;
  readonly injected: Readonly<Record<string, number>>;
  /** Injections by which an executed request looked as if it might not have been. */
  readonly unknownAndExecuted: number;
  /** Events that came before the answer to their POST had passed. */
  readonly early: number;
  /** Events that contradict what is proven, and flows that are parked for that. */
  readonly conflicts: number;
  readonly deliveries: number;
  readonly inbox: Readonly<Record<string, number>>;
  /** By flow id, from start to end, ms; those that ended. */
  readonly latencies: Readonly<Record<string, { readonly startedAtMs: number; readonly tookMs: number }>>;
  /** How many requests each flow made to the service. */
  readonly requests: Readonly<Record<string, number>>;
  readonly replayed: number;
  /** Shapes of the steps and results of all flows, if they are wanted. */
  readonly pairs: readonly string[];
  readonly longestHistory: number;
  readonly mostSignals: number;
}

export function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

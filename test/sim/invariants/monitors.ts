import type { MemoryDatabase } from '../world/memory-database.js';
import { violation } from './safety.js';
import type { Violation } from './violation.js';

/** Checks the store's rows after every write: the allowed transitions are written down here a second time. */
export interface Monitors {
  check(): readonly Violation[];
  /** The store was put back: what was seen since its backup is forgotten. */
  forget(): void;
}

/** The phases that may follow each phase of a claim. `reserved` from `sending` needs the same owner, or an order. */
const CLAIM_MAY: Readonly<Record<string, readonly string[]>> = {
  absent: ['reserved', 'sending', 'void', 'answered'],
  reserved: ['reserved', 'sending', 'void', 'answered'],
  sending: ['sending', 'reserved', 'answered', 'rejected', 'void'],
  rejected: ['rejected', 'answered'],
  void: ['void', 'answered'],
  answered: ['answered'],
};

const SETTLED: readonly string[] = ['applied', 'duplicate', 'conflicting', 'late'];

interface ClaimNow {
  readonly phase: string;
  readonly owner: string;
  readonly orders: number;
}

/** @param recorded `{operation} {reference}` of each answer that was written */
export function createMonitors(database: MemoryDatabase, recorded: readonly string[]): Monitors {
  const claims = new Map<string, ClaimNow>();
  const events = new Map<string, string>();
  let seen = -1;
  let answers = 0;
  let wasRestored = false;

  function claimSteps(): readonly Violation[] {
    const rows = database.all(`SELECT operation, reference, phase, owner, (SELECT COUNT(*) FROM claim_orders o
      WHERE o.operation = claims.operation AND o.reference = claims.reference AND o.action = 'send-again') AS orders FROM claims`);
    return rows.flatMap((row) => {
      const key = `${String(row['operation'])} ${String(row['reference'])}`;
      const now = { phase: String(row['phase']), owner: String(row['owner']), orders: Number(row['orders']) };
      const before = claims.get(key) ?? { phase: 'absent', owner: '', orders: 0 };
      claims.set(key, now);
      const found: Violation[] = [];
      if (CLAIM_MAY[before.phase]?.includes(now.phase) !== true) {
        found.push(violation('claim', key, `after ${before.phase}: ${CLAIM_MAY[before.phase]?.join(', ')}`, now.phase));
      }
      const isOrdered = now.orders > before.orders;
      const changesHands = before.phase === 'sending' && ['sending', 'reserved'].includes(now.phase) && now.owner !== before.owner; // prettier-ignore
      if (changesHands && !isOrdered) {
        found.push(violation('claim', `${key} in sending`, `still of ${before.owner}`, `of ${now.owner}`));
      }
      return found;
    });
  }

  /**
   * An answer of the service is the truth, whatever a person has decided before. If a restore has lost the claim itself,
   * the activity raises an alarm, and there is no row to write it into.
   */
  function answersKept(): readonly Violation[] {
    const written = recorded.slice(answers);
    answers = recorded.length;
    return written
      .filter((key) => claims.get(key)?.phase !== 'answered' && !(wasRestored && !claims.has(key)))
      .map((key) => violation('claim', `${key} with its answer`, 'answered', claims.get(key)?.phase ?? 'absent'));
  }

  function eventSteps(): readonly Violation[] {
    return database.all('SELECT id, state, status, flow_id FROM inbox').flatMap((row) => {
      const id = String(row['id']);
      const state = String(row['state']);
      const before = events.get(id);
      events.set(id, state);
      if (before === undefined || !SETTLED.includes(before) || before === state) return [];
      const what = `${id} (${String(row['status'])} of ${String(row['flow_id'])})`;
      return [violation('inbox', what, `settled as ${before} for good`, state)];
    });
  }

  return {
    forget() {
      wasRestored = true;
      claims.clear();
      events.clear();
      claimSteps();
      eventSteps();
    },
    check() {
      if (database.writes === seen) return [];
      seen = database.writes;
      return [...claimSteps(), ...answersKept(), ...eventSteps()];
    },
  };
}

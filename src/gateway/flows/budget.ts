import type { AuditNote, AuditStore } from '../../store/audit.js';
import type { Store } from '../../store/store.js';
import { createRateLimit } from '../http/rate-limit.js';

type Entry = Pick<AuditNote, 'actor' | 'kind' | 'flowId' | 'subject' | 'action'>;

/**
 * What one name may leave behind: each order and each refusal of one is an entry of the audit log, which is kept for ever,
 * and most are an event in a flow's history as well.
 */
export interface Budget {
  /** @throws Refusal 429 if there is no room for the entry @returns gives it back */
  take(entry: Entry): () => void;
}

/** For one name, one flow or event, and one kind of order: none of them takes from another. */
const ABOUT_ONE = { perSecond: 1 / 60, burstSeconds: 1_200 };
/** For all of one name that is about no flow, such as what it decodes. */
const ABOUT_NONE = { perSecond: 1, burstSeconds: 600 };
const WHAT = 'entries of the audit log';

export function createBudget(monotonicMs: () => number): Budget {
  const limit = ({ perSecond, burstSeconds }: typeof ABOUT_ONE) =>
    createRateLimit(perSecond, monotonicMs, burstSeconds, WHAT);
  const aboutOne = limit(ABOUT_ONE);
  const aboutNone = limit(ABOUT_NONE);
  return {
    take({ actor, kind, flowId, subject, action }) {
      // Of flows that never were there is any number: the events that may be replayed to them are counted.
      const about = kind === 'replay-event' ? subject : flowId;
      if (about === undefined) return aboutNone.take(actor);
      return aboutOne.take(JSON.stringify([actor, about, kind, action]));
    },
  };
}

/**
 * Kinds without a budget here: flows that are started are limited by the rate of requests, readings are recorded once in ten
 * minutes, and refusals are charged before the order is tried.
 */
const OTHERWISE_LIMITED: readonly string[] = [
  'start',
  'refused',
  'read-answers',
  'read-service',
  'read-event',
  'read-secret',
] satisfies AuditNote['kind'][];

/** The store with an audit log to which nothing is written beyond the budget of its actor. */
export function withinBudget(store: Store, budget: Budget): Store {
  const append: AuditStore['append'] = async (note) => {
    if (!OTHERWISE_LIMITED.includes(note.kind)) budget.take(note);
    return store.audit.append(note);
  };
  const audit = Object.create(store.audit, { append: { value: append } }) as AuditStore;
  return Object.create(store, { audit: { value: audit } }) as Store;
}

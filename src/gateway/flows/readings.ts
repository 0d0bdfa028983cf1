import type { AuditStore } from '../../store/audit.js';
import { type Caller, whoIs } from '../http/bearer-token.js';

/** For this long, all readings of one name of the same are one entry: polling must not fill the audit log. */
const SAME_READING_MS = 600_000;

/** What was read, which may be personal. */
export interface Reading {
  readonly kind: 'read-answers' | 'read-service' | 'read-event' | 'read-secret';
  readonly flowId?: string | undefined;
  /** The reference of a record of the service, the id of an event, or a name. */
  readonly subject?: string;
  readonly action?: string;
}

export interface Readings {
  /** Resolves once it is recorded. @throws StoreUnavailableError: then nothing may be shown */
  record(caller: Caller, reading: Reading): Promise<void>;
}

/** Records readings of personal data, each once in ten minutes for each name, by this gateway. */
export function createReadings(deps: {
  readonly audit: Pick<AuditStore, 'append'>;
  readonly monotonicMs: () => number;
}): Readings {
  /** Oldest first. */
  const recorded = new Map<string, { readonly atMs: number; readonly done: Promise<void> }>();

  return {
    record(caller, reading) {
      const now = deps.monotonicMs();
      for (const [key, { atMs }] of recorded) {
        if (now - atMs < SAME_READING_MS) break;
        recorded.delete(key);
      }
      const { kind, flowId, subject, action } = reading;
      const key = JSON.stringify([caller.name, kind, flowId, subject, action]);
      const known = recorded.get(key);
      if (known !== undefined) return known.done;
      const done = deps.audit.append({ ...whoIs(caller), ...reading });
      recorded.set(key, { atMs: now, done });
      done.catch(() => recorded.delete(key));
      return done;
    },
  };
}

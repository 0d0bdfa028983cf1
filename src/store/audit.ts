import { createHash, randomBytes } from 'node:crypto';
import type { AuditEntry } from '../api/audit.js';
import type { AuditKind, AuditMeans } from '../protocol/audit.js';
import { canonicalJson } from './canonical-json.js';

/** An action to record. */
export interface AuditNote {
  readonly kind: AuditKind;
  readonly flowId?: string | undefined;
  /** What it is about, in addition to the flow: an event, a proposal. */
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  readonly actor: string;
  readonly role?: string | undefined;
  readonly means: AuditMeans;
  /** Sealed: notes, evidence, reasons. Never a secret. JSON. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The last entry of a chain. */
export interface AuditHead {
  readonly chain: number;
  readonly number: number;
  readonly hash: string;
}

export interface AuditQuery {
  readonly limit: number;
  /** Entries after this one, in the requested order. */
  readonly after?: number | undefined;
  /** @default newest first */
  readonly oldestFirst?: boolean;
  readonly flowId?: string | undefined;
  readonly actor?: string | undefined;
  readonly kind?: AuditKind | undefined;
  readonly subject?: string | undefined;
}

export type AuditProblemCode =
  | 'chain_missing'
  | 'entries_missing'
  /** The entry before it is another one than the one that it followed. */
  | 'other_entry_before'
  | 'content_changed'
  /** It was not written with a key of this store. */
  | 'foreign_key'
  | 'details_changed'
  /** They were changed, or a payload key is missing. */
  | 'details_unreadable'
  /** No entry says that its flow was erased. */
  | 'details_missing'
  /** A head that was kept, or that a later chain repeats, is not there. */
  | 'head_missing'
  /** Another entry has its place. */
  | 'head_differs';

export interface AuditProblem {
  readonly code: AuditProblemCode;
  readonly chain: number;
  /** The entry, or the first of several in a row. Absent: the whole chain. */
  readonly entry?: number;
  /** The last of several in a row. */
  readonly lastEntry?: number;
  /** For people: what is wrong, and where. */
  readonly sentence: string;
}

export interface AuditVerdict {
  readonly entries: number;
  readonly chains: number;
  readonly heads: readonly AuditHead[];
  /** Empty: nothing was changed, nothing is missing. */
  readonly problems: readonly AuditProblem[];
}

/** Whose a flow is: the last one's whom an admin gave it to, else the one's who started it through a gateway. */
export interface Owner {
  /** Null: another Temporal client started it, so it has no owner; or only Temporal knows whose start it took. */
  readonly name: string | null;
  /** `starts`: several names started it, and a start that never became a flow is recorded as any other. */
  readonly by: 'gift' | 'start' | 'starts';
  /** Of the entry that says so. */
  readonly seq: number;
}

export interface OwnedFlow {
  readonly flowId: string;
  /** For `before`: of the entry that started it, or gave it. */
  readonly seq: number;
}

/** The audit log: append-only, kept for ever. */
export interface AuditStore {
  /** Resolves once it is durable. @throws StoreUnavailableError: then the action must not be carried out */
  append(note: AuditNote): Promise<void>;
  list(query: AuditQuery): Promise<readonly AuditEntry[]>;
  /**
   * Who ordered the start of a flow through a gateway. A start does not count if a refusal of it (`refused`, `start`) has its subject.
   * Empty: another Temporal client started it.
   */
  startersOf(flowId: string): Promise<readonly string[]>;
  /** Whose each flow is. Flows of which no start is known are absent. */
  ownersOf(flowIds: readonly string[]): Promise<ReadonlyMap<string, Owner>>;
  /** Flows that a name started or was given, newest first: some may be another's since, and one may come twice. */
  flowsOf(name: string, page: { readonly limit: number; readonly before?: number }): Promise<readonly OwnedFlow[]>;
  /** Reads all of it. @param known heads that were exported before: each must still exist */
  verify(known?: readonly AuditHead[]): Promise<AuditVerdict>;
}

export const NO_ENTRY_BEFORE = '0'.repeat(64);

const sha256 = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

/** Keeps short details from being found out by guessing. */
export const salted = (details: AuditNote['details']): Readonly<Record<string, unknown>> => ({
  ...details,
  salt: randomBytes(16).toString('hex'),
});

export const detailsHashOf = (details: Readonly<Record<string, unknown>>): string => sha256(canonicalJson(details));

/** The content that an entry's hash covers. */
export type AuditContent = Omit<AuditEntry, 'seq' | 'details' | 'hash' | 'mac'>;

export function auditHash(entry: AuditContent): string {
  const { chain, number, at, kind, flowId, subject, action, actor, role, means, detailsHash, previous } = entry;
  return sha256(
    canonicalJson({ chain, number, at, kind, flowId, subject, action, actor, role, means, detailsHash, previous }),
  );
}

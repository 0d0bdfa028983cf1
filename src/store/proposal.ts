import { proposedMatterId } from '../protocol/matters.js';
import type { MatterStore } from './matters.js';
import { BEGUN_BY, type PageOfFlows } from './sql-audit.js';
import { integer, text, turnOf, type SqlConnection } from './sql-connection.js';
import type { Row, SqlBlob } from './sql-message.js';
import { readable, type SealedJson } from './store-key.js';

/** The subject of a proposal of a flow: at most one of each is open. */
export interface ProposalKey {
  readonly flowId: string;
  /** `decision`, `approval`, or an event. */
  readonly topic: string;
}

/** An order that needs a second person, given by the first one. */
export interface Proposal extends ProposalKey {
  readonly id: string;
  /** The flow's state for which it was made, such as since when the flow is parked: in another state it is void. */
  readonly subject: string;
  readonly action: string;
  /** Further parts of the order, as JSON. */
  readonly choice: Readonly<Record<string, string>>;
  readonly by: string;
  /** Null: it cannot be decrypted here, so nothing proves what was proposed. */
  readonly note: string | null;
  readonly at: string;
  readonly expiresAt: string;
  /** Set while it is carried out. If no worker answered, another person may confirm it after a minute. */
  readonly confirmedBy: string | null;
}

/** As lists show it: nothing of it is sealed. */
export type OpenProposal = Omit<Proposal, 'choice' | 'note' | 'confirmedBy'>;

export interface ProposalStore {
  /** Those that have not expired, the oldest first: of these flows, or a page of all. A flow may have moved on since. */
  open(of: { readonly flowIds: readonly string[] } | PageOfFlows): Promise<readonly OpenProposal[]>;
  /** Undefined if there is none, or it has expired. */
  get(key: ProposalKey): Promise<Proposal | undefined>;
  /** Proposes it, unless one for the same subject is open: returns the one that is. */
  propose(
    proposal: Omit<Proposal, 'at' | 'expiresAt' | 'confirmedBy' | 'note'> & { readonly note: string },
    lifeMs: number,
  ): Promise<Proposal>;
  /** True for one of those who confirm it within a minute, and again for that one; never for its proposer. */
  confirm(proposal: Pick<Proposal, 'flowId' | 'topic' | 'id'>, by: string): Promise<boolean>;
  /** Ends it: withdrawn or carried out. False if there is none, or, unless `evenIfConfirmed`, it is being executed. */
  end(proposal: Pick<Proposal, 'flowId' | 'topic' | 'id'>, evenIfConfirmed?: boolean): Promise<boolean>;
}

/** Longer than an order's answer takes. An order that is sent twice is taken once: its id is the proposal's. */
const CARRIED_OUT_WITHIN_MS = 60_000;

/** The encrypted note is bound to these columns: without a payload key no proposal can be made or changed. */
export const PROPOSAL_SAYS = ['flow_id', 'topic', 'id', 'subject', 'action', 'choice', 'proposed_by'] as const;
export const proposalPlace = (row: Row): readonly string[] => [
  'proposals',
  ...PROPOSAL_SAYS.map((column) => text(row, column)),
  'note',
];

/** The same, and people are notified of a proposal until it has ended. */
export function withNotices(proposals: ProposalStore, matters: Pick<MatterStore, 'open' | 'resolve'>): ProposalStore {
  return {
    ...proposals,
    async propose(proposal, lifeMs) {
      const stands = await proposals.propose(proposal, lifeMs);
      const { id, flowId, action, at, expiresAt } = stands;
      const content = { kind: 'proposed', flowId, since: at, reason: action, until: expiresAt } as const;
      if (id === proposal.id) await matters.open(proposedMatterId(id, flowId), content);
      return stands;
    },
    async end(proposal, evenIfConfirmed) {
      const hasEnded = await proposals.end(proposal, evenIfConfirmed);
      if (hasEnded) await matters.resolve(proposedMatterId(proposal.id, proposal.flowId));
      return hasEnded;
    },
  };
}

const OPEN_PROPOSAL = 'flow_id, topic, id, subject, action, proposed_by, proposed_at, expires_at';
const openProposalOf = (row: Row): OpenProposal => ({
  flowId: text(row, 'flow_id'),
  topic: text(row, 'topic'),
  id: text(row, 'id'),
  subject: text(row, 'subject'),
  action: text(row, 'action'),
  by: text(row, 'proposed_by'),
  at: new Date(integer(row, 'proposed_at')).toISOString(),
  expiresAt: new Date(integer(row, 'expires_at')).toISOString(),
});

/** Each method is one transaction, and confirming one compare-and-set in it. */
export function createSqlProposals(deps: {
  readonly db: SqlConnection;
  readonly sealed: SealedJson;
  readonly now: () => number;
}): ProposalStore {
  const { db, sealed, now } = deps;

  const proposalOf = (row: Row | undefined): Proposal | undefined => {
    if (row === undefined) return undefined;
    const said = readable(() => ({
      note: String(sealed.open(proposalPlace(row), row['note'] as SqlBlob)),
      choice: JSON.parse(text(row, 'choice')) as Proposal['choice'],
    }));
    const isConfirmed = row['confirmed_by'] != null && integer(row, 'confirmed_at') > now() - CARRIED_OUT_WITHIN_MS;
    return {
      ...openProposalOf(row),
      choice: said?.choice ?? {},
      note: said?.note ?? null,
      confirmedBy: isConfirmed ? text(row, 'confirmed_by') : null,
    };
  };
  const ofFlows = (flowIds: readonly string[]) => ({
    and: `AND flow_id IN (SELECT value FROM ${db.dialect.elements}(?))`,
    limit: '',
    params: [JSON.stringify(flowIds)],
  });
  const partsOf = ({ limit, after, begunBy }: PageOfFlows) => ({
    and: `${after === undefined ? '' : 'AND id > ?'} ${begunBy === undefined ? '' : `AND ${BEGUN_BY('proposals')}`}`,
    limit: 'LIMIT ?',
    params: [after, begunBy, begunBy, limit].filter((value) => value !== undefined),
  });
  const select = ({ flowId, topic }: ProposalKey) => ({
    sql: `SELECT * FROM proposals WHERE flow_id = ? AND topic = ? AND expires_at > ?`,
    params: [flowId, topic, now()],
  });

  return {
    async get(key) {
      const [found] = await db.read([select(key)]);
      return proposalOf(found?.rows[0]);
    },

    async open(of) {
      const { and, limit, params } = 'limit' in of ? partsOf(of) : ofFlows(of.flowIds);
      // The order of their ids is that of their making.
      const sql = `SELECT ${OPEN_PROPOSAL} FROM proposals WHERE expires_at > ? ${and} ORDER BY id ${limit}`;
      const [found] = await db.read([{ sql, params: [now(), ...params] }]);
      return (found?.rows ?? []).map(openProposalOf);
    },

    async propose({ flowId, topic, id, subject, action, choice, by, note }, lifeMs) {
      const at = now();
      const sql = `INSERT INTO proposals
          (flow_id, topic, id, subject, action, choice, proposed_by, note, proposed_at, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (flow_id, topic) DO UPDATE
        SET id = excluded.id, subject = excluded.subject, action = excluded.action, choice = excluded.choice,
          proposed_by = excluded.proposed_by, note = excluded.note, proposed_at = excluded.proposed_at,
          expires_at = excluded.expires_at, confirmed_by = NULL, confirmed_at = NULL
        WHERE proposals.expires_at <= excluded.proposed_at OR proposals.subject <> excluded.subject`;
      const said = [flowId, topic, id, subject, action, JSON.stringify(choice), by];
      const row = Object.fromEntries(PROPOSAL_SAYS.map((column, index) => [column, said[index] ?? '']));
      const params = [...said, sealed.seal(proposalPlace(row), note), at, at + lifeMs];
      const [, found] = await db.write([{ sql, params }, select({ flowId, topic })], turnOf.proposal(flowId));
      const stands = proposalOf(found?.rows[0]);
      if (stands === undefined) throw new TypeError('A proposal that was just made is not there');
      return stands;
    },

    async confirm({ flowId, topic, id }, by) {
      const at = now();
      const sql = `UPDATE proposals SET confirmed_by = ?, confirmed_at = ?
        WHERE flow_id = ? AND topic = ? AND id = ? AND expires_at > ? AND proposed_by <> ?
          AND (confirmed_by IS NULL OR confirmed_by = ? OR confirmed_at <= ?)`;
      const params = [by, at, flowId, topic, id, at, by, by, at - CARRIED_OUT_WITHIN_MS];
      const [confirmed] = await db.write([{ sql, params }], turnOf.proposal(flowId));
      return confirmed?.changes === 1;
    },

    async end({ flowId, topic, id }, evenIfConfirmed = false) {
      const confirmedBefore = evenIfConfirmed ? Number.MAX_SAFE_INTEGER : now() - CARRIED_OUT_WITHIN_MS;
      const sql = `DELETE FROM proposals WHERE flow_id = ? AND topic = ? AND id = ?
                   AND (confirmed_by IS NULL OR confirmed_at <= ?)`;
      const params = [flowId, topic, id, confirmedBefore];
      const [ended] = await db.write([{ sql, params }], turnOf.proposal(flowId));
      return ended?.changes === 1;
    },
  };
}

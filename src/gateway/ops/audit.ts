import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { AUDIT_KINDS, type AuditEntry, type AuditPage } from '../../protocol/audit.js';
import type { Store } from '../../store/store.js';
import { readCharged, type TakePages } from '../flows/charged-pages.js';
import type { MembersOf } from '../http/openapi.js';
import { addRoute } from '../http/route.js';

const nullable = () => z.string().nullable();
const hash = (description: string) => z.string().meta({ description });

const Entry = z.object({
  seq: z.int(),
  chain: z.int().meta({ description: 'Each process that writes has one of its own.' }),
  number: z.int().meta({ description: 'Number of the entry in its chain: from 1 on, without a gap.' }),
  at: z.iso.datetime(),
  // Words that a later version may add to are text.
  kind: z.string(),
  flowId: nullable(),
  subject: nullable().meta({ description: 'What it is about besides the flow: an event, an order.' }),
  action: nullable(),
  actor: z.string(),
  role: nullable(),
  means: z.string().meta({ description: 'How the actor was identified; `unproven`: another Temporal client says so.' }),
  details: z.looseObject({}).nullable().meta({ description: 'Null if they cannot be decrypted, or were erased.' }),
  detailsHash: hash('SHA-256 of `details` as canonical JSON.'),
  previous: hash('`hash` of the entry before it in its chain; 64 zeros for the first one.'),
  hash: hash('SHA-256 of all other members but `seq`, `details` and `mac`, as canonical JSON.'),
  mac: hash('HMAC-SHA256 of `hash` under a key of the store.'),
} satisfies MembersOf<AuditEntry>);

const AuditList = z.object({
  entries: z.array(Entry),
  next: z.int().nullable().meta({ description: '`after` of the next page.' }),
} satisfies MembersOf<AuditPage>);

const Query = z.strictObject({
  flow: z.string().max(200).optional().meta({ description: 'A flow id, `{kind}/{reference}`.' }),
  actor: z.string().max(300).optional(),
  kind: z.enum(AUDIT_KINDS).optional(),
  order: z.enum(['newest', 'oldest']).default('newest'),
  limit: z.coerce.number().int().min(1).max(500).default(50),
  after: z.coerce.number().int().min(0).optional(),
});

/** `GET /audit`: the audit log, page by page. */
export function addAuditRoute(
  server: FastifyInstance,
  deps: { readonly store: Pick<Store, 'audit'>; readonly takePage: TakePages },
): void {
  const { store, takePage } = deps;
  addRoute(server, {
    method: 'GET',
    path: '/audit',
    operationId: 'listAudit',
    tag: 'operations',
    summary: 'Lists the audit log: who started, ordered, was refused, decoded and read what.',
    permission: 'read-audit',
    query: Query,
    answers: { 200: { says: 'Entries.', schema: { AuditList } } },
    handler: async ({ caller, query: { flow, order, limit, ...rest } }) => {
      const entries = await readCharged(takePage, caller.name, limit, () =>
        store.audit.list({ ...rest, limit, flowId: flow, oldestFirst: order === 'oldest' }),
      );
      return { entries, next: entries.length === limit ? (entries.at(-1)?.seq ?? null) : null };
    },
  });
}

import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { AuditPage } from '../../api/audit.js';
import { AUDIT_KINDS } from '../../protocol/audit.js';
import type { Store } from '../../store/store.js';
import { readCharged, type TakePages } from '../flows/charged-pages.js';
import { addRoute } from '../http/route.js';

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
    answers: { 200: { says: 'Entries.', schema: { AuditList: AuditPage } } },
    handler: async ({ caller, query: { flow, order, limit, ...rest } }) => {
      const entries = await readCharged(takePage, caller.name, limit, () =>
        store.audit.list({ ...rest, limit, flowId: flow, oldestFirst: order === 'oldest' }),
      );
      return { entries, next: entries.length === limit ? (entries.at(-1)?.seq ?? null) : null };
    },
  });
}

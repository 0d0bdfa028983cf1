import type { FastifyInstance } from 'fastify';
import { AuditPage, AuditPageQuery } from '../../api/audit.js';
import type { Store } from '../../store/store.js';
import { readCharged, type TakePages } from '../flows/charged-pages.js';
import { addRoute } from '../http/route.js';

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
    query: AuditPageQuery,
    answers: { 200: { says: 'Entries.', schema: { AuditList: AuditPage } } },
    handler: async ({ caller, query: { flow, order, limit, ...rest } }) => {
      const entries = await readCharged(takePage, caller.name, limit, () =>
        store.audit.list({ ...rest, limit, flowId: flow, oldestFirst: order === 'oldest' }),
      );
      return { entries, next: entries.length === limit ? (entries.at(-1)?.seq ?? null) : null };
    },
  });
}

import type { FastifyInstance } from 'fastify';
import { WhoAmI } from '../../api/operations.js';
import { permissionsOf } from '../../protocol/permissions.js';
import { addRoute } from '../http/route.js';

/** `GET /whoami`: the name and role of a token, and what it allows, so that a client offers nothing else. */
export function addWhoAmIRoute(server: FastifyInstance): void {
  addRoute(server, {
    method: 'GET',
    path: '/whoami',
    operationId: 'whoAmI',
    tag: 'operations',
    summary: 'Shows whose token it is, and what it allows.',
    permission: 'view',
    answers: { 200: { says: 'The caller.', schema: { Caller: WhoAmI } } },
    handler: ({ caller: { name, role } }) => ({ name, role, may: permissionsOf(role) }),
  });
}

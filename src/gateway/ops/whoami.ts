import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { WhoAmI } from '../../protocol/gateway-json.js';
import { permissionsOf } from '../../protocol/permissions.js';
import type { MembersOf } from '../http/openapi.js';
import { addRoute } from '../http/route.js';

const Caller = z.object({
  name: z.string().meta({ description: 'The caller’s name, as the audit log records it.' }),
  role: z.string().meta({ description: 'A role, or several joined by a plus.' }),
  may: z.array(z.string()).meta({ description: 'Permissions, as in the table of docs/access.md.' }),
} satisfies MembersOf<WhoAmI>);

/** `GET /whoami`: the name and role of a token, and what it allows, so that a client offers nothing else. */
export function addWhoAmIRoute(server: FastifyInstance): void {
  addRoute(server, {
    method: 'GET',
    path: '/whoami',
    operationId: 'whoAmI',
    tag: 'operations',
    summary: 'Shows whose token it is, and what it allows.',
    permission: 'view',
    answers: { 200: { says: 'The caller.', schema: { Caller } } },
    handler: ({ caller: { name, role } }) => ({ name, role, may: permissionsOf(role) }),
  });
}

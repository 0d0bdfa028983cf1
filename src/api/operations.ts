import { z } from 'zod';
import type { Permission } from '../protocol/permissions.js';
import { at, type Json, word } from './json.js';
import { note } from './orders.js';

const count = (description: string) => z.int().meta({ description });

/** The bearer of a token. */
export type WhoAmI = Json<z.infer<typeof WhoAmI>>;
export const WhoAmI = z.object({
  name: z.string().meta({ description: 'The caller’s name, as the audit log records it.' }),
  role: z.string().meta({ description: 'A role, or several joined by a plus.' }),
  may: z.array(word<Permission>()).meta({ description: 'Permissions, as in the table of docs/access.md.' }),
});

/** As actors are recorded: of a gateway token, or `oidc:` and the name that the issuer gives a person. */
export const NAME = /^([A-Za-z0-9._-]{1,64}|oidc:[\x21-\x7e]{1,255})$/;

export const NAME_RULE = 'must be the name of a gateway token, or "oidc:" and the name of a person of the issuer';

export const GiveBody = z.strictObject({
  to: z.string().regex(NAME, NAME_RULE),
  note: note().min(1, 'must say why'),
});

/** A flow that an admin gave to another name. */
export type GivenFlow = Json<z.infer<typeof GivenFlow>>;
export const GivenFlow = z.object({
  flowId: z.string(),
  owner: z.string(),
  before: z.string().nullable().meta({ description: 'Null: it had no owner.' }),
});

/** How the payment of a flow ended, as an admin says who closes its claims. */
export const CLOSED_AS = ['not-executed', 'completed', 'failed', 'refunded'] as const;
export type ClosedAs = (typeof CLOSED_AS)[number];

export const CloseBody = z.strictObject({
  as: z.enum(CLOSED_AS, `must be one of ${CLOSED_AS.join(', ')}`),
  note: note().min(1, 'must say why'),
});

/** The claims of a flow that Temporal does not run any more, as they are since an admin closed them. */
export type ClosedClaims = Json<z.infer<typeof ClosedClaims>>;
export const ClosedClaims = z.object({
  flowId: z.string(),
  claims: z.array(z.object({ operation: z.string(), reference: z.string(), phase: z.string() })),
});

export const EraseBody = z.strictObject({ note: note().optional() });

/** How much of a flow was erased from the store. */
export type ErasedFlow = Json<z.infer<typeof ErasedFlow>>;
export const ErasedFlow = z.object({
  flowId: z.string(),
  events: count('Events whose body or detail was erased.'),
  claims: count('Claims whose answer, refusal or reason was erased.'),
  entries: count('Entries of the audit log whose details were erased.'),
});

/** A card in the memory of one gateway, for a minute. */
export type CardToken = Json<z.infer<typeof CardToken>>;
export const CardToken = z.object({ cardToken: z.string(), masked: z.string(), expiresAt: at() });

import { z } from 'zod';
import type { Permission } from '../protocol/permissions.js';
import { at, type Json, word } from './json.js';

const count = (description: string) => z.int().meta({ description });

/** The bearer of a token. */
export type WhoAmI = Json<z.infer<typeof WhoAmI>>;
export const WhoAmI = z.object({
  name: z.string().meta({ description: 'The caller’s name, as the audit log records it.' }),
  role: z.string().meta({ description: 'A role, or several joined by a plus.' }),
  may: z.array(word<Permission>()).meta({ description: 'Permissions, as in the table of docs/access.md.' }),
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

/** The claims of a flow that Temporal does not run any more, as they are since an admin closed them. */
export type ClosedClaims = Json<z.infer<typeof ClosedClaims>>;
export const ClosedClaims = z.object({
  flowId: z.string(),
  claims: z.array(z.object({ operation: z.string(), reference: z.string(), phase: z.string() })),
});

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

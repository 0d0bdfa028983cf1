import { z } from 'zod';
import { AUDIT_KINDS, type AuditKind, type AuditMeans } from '../protocol/audit.js';
import { at, type Json, limit, word } from './json.js';

const nullable = () => z.string().nullable();
const hash = (description: string) => z.string().meta({ description });

/** One entry of the audit log, as it is stored. */
export type AuditEntry = Json<z.infer<typeof AuditEntry>>;
const AuditEntry = z.object({
  /** Its position among all entries, for `after`. Not part of what is proven. */
  seq: z.int(),
  chain: z.int().meta({ description: 'Each process that writes has one of its own.' }),
  number: z.int().meta({ description: 'Number of the entry in its chain: from 1 on, without a gap.' }),
  at: at(),
  kind: word<AuditKind>(),
  flowId: nullable(),
  subject: nullable().meta({ description: 'What it is about besides the flow: an event, an order.' }),
  action: nullable(),
  actor: z.string(),
  role: nullable(),
  means: word<AuditMeans>().meta({
    description: 'How the actor was identified; `unproven`: another Temporal client says so.',
  }),
  /** With the salt that keeps `detailsHash` from being guessed. */
  details: z.looseObject({}).nullable().meta({ description: 'Null if they cannot be decrypted, or were erased.' }),
  detailsHash: hash('SHA-256 of `details` as canonical JSON.'),
  previous: hash('`hash` of the entry before it in its chain; 64 zeros for the first one.'),
  hash: hash('SHA-256 of all other members but `seq`, `details` and `mac`, as canonical JSON.'),
  mac: hash('HMAC-SHA256 of `hash` under a key of the store.'),
});

export const AuditPageQuery = z.strictObject({
  flow: z.string().max(200).optional().meta({ description: 'A flow id, `{kind}/{reference}`.' }),
  actor: z.string().max(300).optional(),
  kind: z.enum(AUDIT_KINDS).optional(),
  order: z.enum(['newest', 'oldest']).default('newest'),
  limit: limit(50),
  after: z.coerce.number<number>().int().min(0).optional(),
});

export type AuditPage = Json<z.infer<typeof AuditPage>>;
export const AuditPage = z.object({
  entries: z.array(AuditEntry),
  next: z.int().nullable().meta({ description: '`after` of the next page.' }),
});

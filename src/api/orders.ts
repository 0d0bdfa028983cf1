import { z } from 'zod';
import { EVERY_PARK_ACTION } from '../protocol/vocabulary.js';

/** Why; it is kept with the flow. Shown on terminals, so control characters are refused. */
export const note = () =>
  z
    .string()
    .max(1_000)
    .refine((text) => !/(?![\n\t])\p{Cc}/u.test(text), 'must have no control characters but line breaks and tabs');

export const CancelBody = z.strictObject({ note: note().optional() });

export const ResolveBody = z.strictObject({
  action: z.enum(EVERY_PARK_ACTION, `must be one of ${EVERY_PARK_ACTION.join(', ')}`),
  note: note().min(1, 'must say why'),
  eventId: z
    .string()
    .regex(/^[\w.-]{1,80}$/, 'is not an event id')
    .optional(),
  // The flow checks it once more, against its own clock.
  until: z
    .string()
    .max(40)
    .meta({
      description: 'The new deadline of a `keep-waiting`, in UTC, such as 2026-12-01T12:00:00Z; within 90 days.',
    })
    .optional(),
});

export const PayBody = z.strictObject({
  mobileMoney: z.unknown().refine((value) => value !== undefined, 'must say who pays'),
  amount: z.unknown().optional(),
  currency: z.unknown().optional(),
});

export const RefundInvoiceBody = z.strictObject({ invoice: z.string().min(1).max(4_000) });

export const AcknowledgeBody = z.strictObject({ note: note().min(1, 'must say why') });

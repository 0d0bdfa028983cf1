import { z } from 'zod';
import { REFUSAL_CODES } from '../protocol/refusals.js';
import type { Json } from './json.js';

const reference = z.string().optional();
const actions = z.array(z.string()).optional();
const code = z.string().optional().meta({
  description: 'The cause, for programs, if the status does not say it. Later versions may add to these.',
  'x-extensible-enum': REFUSAL_CODES,
});
/** One member that is wrong: `settlement.amount` and what it must be. */
export type MemberError = Json<z.infer<typeof MemberError>>;
const MemberError = z.object({ path: z.string(), message: z.string() });

/** The one error body of the gateway. */
export type ErrorBody = Json<z.infer<typeof Refused>>;
export const Refused = z
  .object({
    success: z.literal(false),
    message: z.string().meta({ description: 'A sentence that says what to do.' }),
    data: z.looseObject({ reference, errors: z.array(MemberError).optional(), code, actions }),
  })
  .meta({ description: 'The one error body. It names members at fault, never their values.' });

/** On the service's own paths: its error envelope, so that a caller that branches on it keeps working, with ours added. */
export type ServiceErrorBody = Json<z.infer<typeof ServiceRefused>>;
export const ServiceRefused = z
  .object({
    success: z.literal(false),
    message: z.string(),
    error_code: z.string().optional(),
    data: z.looseObject({ errors: z.array(z.unknown()).optional() }),
    towline: z
      .looseObject({
        by: z.enum(['gateway', 'service']),
        reference,
        code,
        actions,
        flow: z.string().optional().meta({ description: 'Path of the flow.' }),
      })
      .optional()
      .meta({
        description:
          'Who refused it, and what the gateway knows of its flow. Absent if the service refused a read or an operation of the account: its answer is passed on as it came.',
      }),
  })
  .meta({ description: "The service's own error body if it refused; the gateway's refusals have the same envelope." });

/** What the gateway knows about a request that was refused, by itself or by the service. */
export type BesideServiceError = NonNullable<ServiceErrorBody['towline']>;

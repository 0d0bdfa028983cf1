import { z } from 'zod';
import { flag, text } from './reading.js';

/** "Common response envelope": every response body has these members. `data` is read by the operation's own schema. */
export const Envelope = z.looseObject({
  success: flag(),
  message: text().nullish().catch(undefined),
  data: z.unknown().optional(),
});
export type Envelope = z.infer<typeof Envelope>;

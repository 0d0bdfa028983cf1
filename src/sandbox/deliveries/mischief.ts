import { z } from 'zod';

/** Below 1 a probability, from 1 on a number of copies for each message. */
const HowMany = z.number().min(0).max(1_000);
const Rate = z.number().min(0).max(1);

/** What is done to one stream. */
export const Mischief = z.strictObject({
  /** The same content once more, half of the time under the same webhook id, else under a new one. */
  duplicate: HowMany.optional(),
  /** Another amount or status under the genuine signature, besides the genuine message; tried once. */
  tampered: HowMany.optional(),
  /** A lie of somebody who knows every fact but no secret: unsigned, or signed with a wrong one; tried once. */
  forged: HowMany.optional(),
  /** Callbacks and webhooks: true where the forger even knows the URL; else it must guess the last part of the path. */
  forgerKnowsUrl: z.boolean().optional(),
  /** Callbacks only: the first one arrives before the POST is answered. True, or a probability. */
  early: z.union([z.boolean(), Rate]).optional(),
  /** So late, by the sandbox's clock, that those after it come first: one and a half to three and a half steps. */
  reorder: Rate.optional(),
  /** Late by `delayMs`. */
  delay: Rate.optional(),
  /** @default 5000 */
  delayMs: z.number().int().min(0).optional(),
  /** The first attempt gets lost; the next ones come through. */
  dropFirst: Rate.optional(),
  /** Every attempt gets lost. */
  drop: Rate.optional(),
  /** Every message of a reference gets lost, or none. */
  mute: Rate.optional(),
});
export type Mischief = z.infer<typeof Mischief>;

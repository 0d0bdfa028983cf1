import { z } from 'zod';
import { operationNames } from '../../contract/index.js';

export const FAULT_KINDS = [
  'fail-first',
  'rate-limited',
  'error-before',
  'error-after',
  'answer-lost',
  'reset-before',
  'late-commit',
  'garbage',
  'slow',
  'unauthorized',
  'duplicate-answer',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export const GARBAGE_VARIANTS = ['html', 'truncated', 'wrong-shape', 'no-reason', 'empty', 'not-an-object'] as const;
export type GarbageVariant = (typeof GARBAGE_VARIANTS)[number];

/** Where a 429 tells how long to wait: the three spellings of service-notes.md. */
export const HINTS = ['header', 'data.retryAfter', 'retry_after'] as const;

/** What goes wrong, where, and how often. */
export const FaultRule = z.strictObject({
  operation: z.enum([...operationNames, '*']),
  kind: z.enum(FAULT_KINDS),
  /** Only for this reference. */
  reference: z.string().min(1).optional(),
  /** Lets so many matching requests pass before. */
  skip: z.number().int().min(0).optional(),
  /** Only so many times; without `first` and `rate` every time (`fail-first`: once). */
  first: z.number().int().min(1).optional(),
  /** With this probability, drawn from the seed, the reference and its how-manieth request it is. */
  rate: z.number().min(0).max(1).optional(),
  /** HTTP status of an error or of a duplicate answer. */
  status: z.number().int().min(400).max(599).optional(),
  /** `late-commit`: by the sandbox's clock. `slow`: in real time. */
  delayMs: z.number().int().min(0).optional(),
  /** `late-commit`: what the caller sees meanwhile. @default 'destroy' */
  connection: z.enum(['destroy', 'hang']).optional(),
  hint: z.enum(HINTS).optional(),
  retryAfterSeconds: z.number().int().min(0).optional(),
  variant: z.enum(GARBAGE_VARIANTS).optional(),
  /** `garbage`: exactly this text, as JSON. */
  body: z.string().optional(),
  /** `duplicate-answer`: false answers "duplicate" without having executed anything. @default true */
  commit: z.boolean().optional(),
});
export type FaultRule = z.infer<typeof FaultRule>;

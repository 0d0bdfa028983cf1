import { z } from 'zod';
import { operationNames } from '../../contract/index.js';
import type { Database } from '../database.js';
import type { Chance } from '../random.js';
import { type FaultLog, FAULT_KINDS } from './fault-log.js';

/**
 * A rule that hit a request. `chance` is this hit's own number from 0 to 1, for everything else that the seed decides.
 */
export interface Hit {
  readonly ruleId: number;
  readonly rule: FaultRule;
  readonly chance: number;
}

export interface FaultRules {
  /** The first rule, in the order they were set, that this request runs into. */
  pick(operation: string, reference: string): Hit | undefined;
  /** Inside `database.write`; gives the rule's id. */
  add(rule: FaultRule): number;
  /** Inside `database.write`; all of them without an id. */
  remove(id?: number): number;
  list(): readonly (FaultRule & { readonly id: number; readonly injected: number })[];
  /** Clears the cache, after the table was emptied. */
  forget(): void;
}

interface Known {
  readonly id: number;
  readonly rule: FaultRule;
  matched: number;
  injected: number;
  readonly matchedOfReference: Map<string, number>;
}

export function createFaultRules(deps: { database: Database; log: FaultLog; chance: Chance }): FaultRules {
  const { database, log, chance } = deps;
  const injected = log.countByRule();
  const know = (id: number, rule: FaultRule, injected = 0): Known => ({
    id,
    rule,
    matched: 0,
    injected,
    matchedOfReference: new Map(),
  });
  let known = database
    .all<{ id: number; rule: string }>('SELECT id, rule FROM fault_rules ORDER BY id')
    .map((row) => know(row.id, JSON.parse(row.rule) as FaultRule, injected.get(row.id)));

  function hits(of: Known, reference: string): number | undefined {
    const { rule } = of;
    of.matched += 1;
    if (of.matched <= (rule.skip ?? 0)) return undefined;
    const nth = (of.matchedOfReference.get(reference) ?? 0) + 1;
    const limit = rule.first ?? (rule.kind === 'fail-first' ? 1 : Infinity);
    if (of.injected >= limit) return undefined;
    if (rule.rate !== undefined) {
      of.matchedOfReference.set(reference, nth);
      if (chance('fault', of.id, reference, nth) >= rule.rate) return undefined;
    }
    of.injected += 1;
    return chance('fault detail', of.id, reference, nth);
  }

  return {
    pick(operation, reference) {
      for (const of of known) {
        const { rule } = of;
        if (rule.operation !== '*' && rule.operation !== operation) continue;
        if (rule.reference !== undefined && rule.reference !== reference) continue;
        const number = hits(of, reference);
        if (number !== undefined) return { ruleId: of.id, rule, chance: number };
      }
      return undefined;
    },
    add(rule) {
      const { id } = database.run('INSERT INTO fault_rules (rule) VALUES (?)', JSON.stringify(rule));
      known.push(know(id, rule));
      return id;
    },
    remove(id) {
      known = known.filter((of) => id !== undefined && of.id !== id);
      return database.run('DELETE FROM fault_rules WHERE ?1 IS NULL OR id = ?1', id ?? null).changes;
    },
    list: () => known.map(({ id, rule, injected }) => ({ id, ...rule, injected })),
    forget() {
      known = [];
    },
  };
}

export const GARBAGE_VARIANTS = ['html', 'truncated', 'wrong-shape', 'no-reason', 'empty', 'not-an-object'] as const;
export type GarbageVariant = (typeof GARBAGE_VARIANTS)[number];

/** Where a 429 says how long to wait: the three spellings of the live service. */
export const HINTS = ['header', 'data.retryAfter', 'retry_after'] as const;

/** What goes wrong, where, and how often. */
export const FaultRule = z.strictObject({
  operation: z.enum([...operationNames, '*']),
  kind: z.enum(FAULT_KINDS),
  /** Only for this reference. */
  reference: z.string().min(1).optional(),
  /** Lets this many matching requests pass first. */
  skip: z.number().int().min(0).optional(),
  /** At most this many times; without `first` and `rate` every time (`fail-first`: once). */
  first: z.number().int().min(1).optional(),
  /** With this probability, drawn from the seed, the reference and the number of its request. */
  rate: z.number().min(0).max(1).optional(),
  /** HTTP status of an error, a refusal, a page or a duplicate answer. */
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
  /**
   * Whether it is executed before that answer. @default true; of `refused` false
   */
  commit: z.boolean().optional(),
});
export type FaultRule = z.infer<typeof FaultRule>;

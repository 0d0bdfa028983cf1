import { z } from 'zod';
import { operations, type MoneyOperationName } from '../contract/index.js';

const DUPLICATE_REFERENCE_RULES = ['unknown', 'same-result', 'rejected'] as const;
/**
 * What the service does with a reference that it knows already. `unknown`: never sent again without a person's order.
 * `same-result` and `rejected`: a repeat is safe.
 */
export type DuplicateReferenceRule = (typeof DUPLICATE_REFERENCE_RULES)[number];

export type DuplicateReference = Readonly<Record<MoneyOperationName, DuplicateReferenceRule>>;

const moneyOperations = Object.values(operations)
  .filter((operation) => operation.effect === 'money')
  .map((operation) => operation.name);

const isRule = (text: string | undefined): text is DuplicateReferenceRule =>
  DUPLICATE_REFERENCE_RULES.some((rule) => rule === text);

/** `DUPLICATE_REFERENCE`: one rule for all, or `operation=rule` pairs (the others stay `unknown`), or both. */
export const duplicateReference = () =>
  z.string().transform((text, context): DuplicateReference => {
    const entries = text.split(',').map((entry) => entry.split('=').map((part) => part.trim()));
    const forAll = entries.find((entry) => entry.length === 1)?.[0] ?? 'unknown';
    const rules: Partial<Record<MoneyOperationName, DuplicateReferenceRule>> = {};
    for (const [left, right] of entries) {
      const rule = right ?? left;
      const operation = right === undefined ? undefined : moneyOperations.find((name) => name === left);
      if (!isRule(rule)) context.addIssue(`must say one of ${DUPLICATE_REFERENCE_RULES.join(', ')}`);
      else if (right !== undefined && operation === undefined) {
        context.addIssue(
          `names no operation that moves money before one of its "=" (known: ${moneyOperations.join(', ')})`,
        );
      } else if (operation !== undefined) rules[operation] = rule;
    }
    const fallback = isRule(forAll) ? forAll : 'unknown';
    return Object.fromEntries(moneyOperations.map((name) => [name, rules[name] ?? fallback])) as DuplicateReference;
  });

export const unknownForAll = Object.fromEntries(moneyOperations.map((name) => [name, 'unknown'])) as DuplicateReference;

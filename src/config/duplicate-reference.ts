import { z } from 'zod';
import { operations, type MoneyOperationName } from '../contract/index.js';
import { REPEATS, type Repeat } from '../protocol/decisions.js';

/** What the service does with a reference that it knows already. */
export type DuplicateReference = Readonly<Record<MoneyOperationName, Repeat>>;

const moneyOperations = Object.values(operations)
  .filter((operation) => operation.effect === 'money')
  .map((operation) => operation.name);

const isRule = (text: string | undefined): text is Repeat => REPEATS.some((rule) => rule === text);

/** `DUPLICATE_REFERENCE`: one rule for all, or `operation=rule` pairs (the others stay `unknown`), or both. */
export const duplicateReference = () =>
  z.string().transform((text, context): DuplicateReference => {
    const entries = text.split(',').map((entry) => entry.split('=').map((part) => part.trim()));
    const forAll = entries.find((entry) => entry.length === 1)?.[0] ?? 'unknown';
    const rules: Partial<Record<MoneyOperationName, Repeat>> = {};
    for (const [left, right] of entries) {
      const rule = right ?? left;
      const operation = right === undefined ? undefined : moneyOperations.find((name) => name === left);
      if (!isRule(rule)) context.addIssue(`must say one of ${REPEATS.join(', ')}`);
      else if (right !== undefined && operation === undefined) {
        context.addIssue(
          `names no operation that moves money before one of its "=" (known: ${moneyOperations.join(', ')})`,
        );
      } else if (operation !== undefined) rules[operation] = rule;
    }
    const fallback = isRule(forAll) ? forAll : 'unknown';
    return Object.fromEntries(moneyOperations.map((name) => [name, rules[name] ?? fallback])) as DuplicateReference;
  });

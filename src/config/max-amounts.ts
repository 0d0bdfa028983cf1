import { z } from 'zod';

const CURRENCY = /^[A-Z][A-Z0-9]{1,11}$/;
/** Above zero, of no more digits than amounts of flows have. */
const AMOUNT = /^(?=.*[1-9])(?:0|[1-9]\d{0,14})(?:\.\d{1,18})?$/;

/** `MAX_AMOUNTS`: comma-separated `currency:amount`, by currency or token in capitals. */
export const maxAmounts = () =>
  z.string().transform((text, context): ReadonlyMap<string, string> => {
    const limits = new Map<string, string>();
    for (const [index, entry] of text.split(',').entries()) {
      const [currency = '', amount = '', ...rest] = entry.split(':').map((part) => part.trim());
      const name = currency.toUpperCase();
      const place = `entry ${index + 1}`;
      if (!CURRENCY.test(name) || rest.length > 0) {
        context.addIssue(`must be comma-separated currency:amount, such as KES:150000, and its ${place} is not`);
      } else if (!AMOUNT.test(amount)) {
        context.addIssue(`has no decimal number above zero, such as 150000 or 0.5, after the ":" of its ${place}`);
      } else if (limits.has(name)) {
        context.addIssue(`names the currency of its ${place} twice`);
      } else limits.set(name, amount);
    }
    return limits;
  });

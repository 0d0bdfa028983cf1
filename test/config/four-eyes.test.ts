import { expect, test } from '@jest/globals';
import { needsSecondPerson } from '../../src/flows/four-eyes.js';
import { APPROVE_QUOTE } from '../../src/protocol/four-eyes.js';

const above = (unit: string, limit: string) => ({ actions: [], above: new Map([[unit, limit]]) });
const amount = (text: string, currency: string) => ({ amount: text, currency });

test('FOUR_EYES_ABOVE needs a second person for a quote if one of its amounts is above, in any unit of that money', () => {
  const needs = (...amounts: Parameters<typeof amount>[]) =>
    needsSecondPerson(
      above('KES', '1000'),
      APPROVE_QUOTE,
      amounts.map((one) => amount(...one)),
    );
  expect(needs(['1000', 'KES'])).toBe(false);
  expect(needs(['1000.01', 'KES'])).toBe(true);
  expect(needs(['1', 'ZAR'], ['1000.01', 'KES'])).toBe(true);
  expect(needs(['9999', 'ZAR'])).toBe(false);
  // What is not known is above every limit.
  expect(needs()).toBe(true);
  expect(needsSecondPerson({ actions: [], above: new Map() }, APPROVE_QUOTE, [])).toBe(false);
  const bitcoin = (text: string, currency: string) =>
    needsSecondPerson(above('BTC', '0.05'), APPROVE_QUOTE, [amount(text, currency)]);
  expect(bitcoin('5000000', 'SAT')).toBe(false);
  expect(bitcoin('5000001', 'SATS')).toBe(true);
  expect(bitcoin('5000000001', 'MSAT')).toBe(true);
});

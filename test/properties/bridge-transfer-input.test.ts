import { describe, expect, it } from '@jest/globals';
import { FIAT_CURRENCIES } from '../../src/contract/vocabulary.js';
import { flowOf } from '../../src/flows/index.js';
import { transferInput } from '../harness/inputs.js';

const { input } = flowOf('bridge-transfer');

describe('the input of a bridge transfer', () => {
  it.each(['XXQ', 'EURO', '', 'KE S'])(
    'is refused for the source currency "%s", by name, since no quote has that',
    (source_currency) => {
      const checked = input.safeParse({ ...transferInput('r-1'), source_currency });
      expect(checked.error?.issues.map(({ path }) => path.join('.'))).toContain('source_currency');
    },
  );

  it('may name each currency of a quote, in any case and with blanks around it', () => {
    for (const currency of FIAT_CURRENCIES) {
      const given = { ...transferInput('r-1'), amount: '10', source_currency: ` ${currency.toLowerCase()}\n` };
      expect(input.safeParse(given).data).toMatchObject({ source_currency: currency });
    }
  });
});

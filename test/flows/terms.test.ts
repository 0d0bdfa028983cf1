import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { termsInWords } from '../../src/cli/flow-text.js';
import { flowOf } from '../../src/flows/index.js';
import { packageRoot } from '../../src/package-root.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';

const exampleOf = (kind: string) =>
  JSON.parse(readFileSync(join(packageRoot(), 'examples', `${kind}.json`), 'utf8')) as Record<string, unknown>;

describe('the terms of a flow, by its example', () => {
  it.each(FLOW_KINDS)('%s: shows the money that leaves the payer, and no party in full', (kind) => {
    const definition = flowOf(kind);
    const raw = exampleOf(kind);
    const input = definition.input.safeParse(raw).data ?? raw;
    const money = definition.moneyOf?.(input);
    const terms = definition.termsOf?.(input);
    expect(terms?.sends).toEqual(money && { amount: money.amount, currency: money.currency });
    for (const party of [terms?.payer, terms?.recipient]) {
      if (party != null) expect(party).toMatch(/^…[\dA-Za-z]{0,4}$/);
    }
  });

  it('bridge-transfer: shows both amounts, the end of the recipient, and the chain', () => {
    const input = bridge();
    expect(flowOf('bridge-transfer').termsOf?.(input)).toMatchObject({
      sends: { amount: input.amount, currency: input.source_currency },
      receives: { amount: input.settlement.amount, currency: input.settlement.currency },
      recipient: expect.stringMatching(/^….{4}$/),
      network: input.chain,
    });
  });

  it('are one line, and one more for the quote', () => {
    const terms = flowOf('bridge-transfer').termsOf?.(bridge());
    if (terms === undefined) throw new Error('no terms');
    const quote = {
      id: 'q-1',
      gives: { amount: '7.5', currency: 'USDC' },
      rate: null,
      fee: null,
      expiresAt: '2026-01-31T12:30:00.000Z',
    };
    expect(termsInWords(terms)).toHaveLength(1);
    expect(termsInWords({ ...terms, quote })).toHaveLength(2);
  });
});

function bridge() {
  return flowOf('bridge-transfer').input.parse(exampleOf('bridge-transfer')) as {
    amount: string;
    source_currency: string;
    chain: string;
    settlement: { amount: string; currency: string };
  };
}

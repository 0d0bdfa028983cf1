import { describe, expect, it } from '@jest/globals';
import { answerWithoutCard, refusalWithoutCard } from '../../activities/card-deposit.js';
import { RejectedError } from '../../src/service-client/index.js';
import { cardDepositFlow } from '../../src/flows/card-deposit.js';
import { CANARY_CARD as card } from '../harness/parties.js';
import { canariesIn } from './cards/find-canaries.js';

const { number, cvv, holder } = card;
const ECHO = `Card ${number} (3782 822463 10005), 11/2047, 11/47, 1147, cvv ${cvv}, of ${holder}: code 05`;
const CLEAN =
  'Card [redacted] ([redacted]), [redacted]/[redacted], [redacted]/[redacted], [redacted], cvv [redacted], ' +
  'of [redacted] [redacted]: code 05';

describe('the answer of the service to a card', () => {
  it('continues with the members of the contract, and the card cut out of its sentence', () => {
    const answer = { reference_id: 'r-1', message: ECHO, redirect_url: 'https://3ds.example/1', card, echo: ECHO };
    expect(answerWithoutCard(answer, card)).toEqual({
      reference_id: 'r-1',
      redirect_url: 'https://3ds.example/1',
      message: CLEAN,
    });
  });

  it('continues without a URL that carries the card number, in any spelling', () => {
    for (const spelled of [number, '3782-822463-10005', '3782%20822463%2010005'.replaceAll('%20', '+')]) {
      const answer = { reference_id: 'r-1', redirect_url: `https://3ds.example/?pan=${spelled}` };
      expect(answerWithoutCard(answer, card)).toEqual({ reference_id: 'r-1' });
    }
  });

  it('is cleaned of a holder of 12,000 words as fast as of a few, whatever their length', () => {
    const leastMs = (holderName: string) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const startedMs = performance.now();
          const answer = { reference_id: 'r-1', message: 'declined for Wxyz'.repeat(20) };
          expect(answerWithoutCard(answer, { ...card, holder: holderName })).toMatchObject({ reference_id: 'r-1' });
          return performance.now() - startedMs;
        }),
      );
    const few = leastMs('Wxyz Abcd');
    const words = Array.from({ length: 12_000 }, (_, n) => `w${n.toString(26).replaceAll(/\d/g, 'q')}`).join(' ');
    // Some 2 s with a pattern for each.
    expect(leastMs(words)).toBeLessThan(400 * Math.max(few, 0.05));
    expect(leastMs('x'.repeat(60_000))).toBeLessThan(400 * Math.max(few, 0.05));
  });

  it('refuses with its reason and its members, and without the card', () => {
    const refused = (code: string) =>
      refusalWithoutCard(
        new RejectedError('createCardDeposit', {
          httpStatus: 400,
          message: ECHO,
          code,
          fields: ['card.number'],
          isRateExpired: false,
          isAboutReference: false,
        }),
        card,
      );
    expect(refused('CARD_DECLINED')).toMatchObject({ message: CLEAN, code: 'CARD_DECLINED', fields: ['card.number'] });
    expect(refused(cvv)).toMatchObject({ message: CLEAN, code: undefined });
    expect(canariesIn(CLEAN)).toEqual([]);
  });
});

describe('an event of a card deposit', () => {
  it('is read by its name if it is "payment.confirmed", and with either spelling of the reference', () => {
    const body = { event: 'payment.confirmed', data: { reference_id: 'r-1', amount: 1250.5, currency: 'ZAR' } };
    expect(cardDepositFlow.readEvent(body)).toEqual({
      references: ['r-1'],
      status: 'CONFIRMED',
      facts: { amount: '1250.5', currency: 'ZAR' },
    });
    const other = { event: 'transaction.deposit.status.updated', data: { referenceId: 'r-1', status: 'FAILED' } };
    expect(cardDepositFlow.readEvent(other)).toMatchObject({ references: ['r-1'], status: 'FAILED' });
  });
});

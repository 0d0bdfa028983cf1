import { describe, expect, it } from '@jest/globals';
import { passesLuhn } from '../../src/gateway/cards/take-card.js';

describe('a card number', () => {
  it.each(['378282246310005', '4111111111111111', '5555555555554444', '6011000990139424', '4222222222222'])(
    '%s is right, and with any one digit changed it is not',
    (digits) => {
      expect(passesLuhn(digits)).toBe(true);
      for (const [index, digit] of Array.from(digits).entries()) {
        const changed = digits.slice(0, index) + ((Number(digit) + 1) % 10) + digits.slice(index + 1);
        expect(passesLuhn(changed)).toBe(false);
      }
    },
  );
});

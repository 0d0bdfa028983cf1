import { describe, expect, it } from '@jest/globals';
import { Refusal } from '../../../src/gateway/http/refusal.js';
import { withReference } from '../../../src/gateway/proxy/send-money.js';

const REFERENCE = '4a0c';
const ALONG = `Send "referenceId": "${REFERENCE}" along: without it, it is another payment.`;
const sent = (isOurs: boolean) => ({ member: 'referenceId' as const, reference: REFERENCE, isOurs });

describe('a money POST that fails on our side', () => {
  it('has the reference that we made for it, and asks to send it along', () => {
    const { status, message, details } = withReference(new Error('the store is away'), sent(true));
    expect([status, details]).toEqual([503, { reference: REFERENCE, code: 'outcome_unknown' }]);
    expect(message.endsWith(ALONG)).toBe(true);
  });

  it("repeats the caller's own reference, whatever the refusal, and adds nothing about it", () => {
    for (const error of [new Error('the store is away'), new Refusal(400, 'No.')]) {
      const { message, details } = withReference(error, sent(false));
      expect(details).toMatchObject({ reference: REFERENCE });
      expect(message).not.toContain('along');
    }
  });

  it('gives no reference of ours under which nothing was started', () => {
    const { status, message, details } = withReference(new Refusal(400, 'No.'), sent(true));
    expect([status, message, details]).toEqual([400, 'No.', {}]);
  });
});

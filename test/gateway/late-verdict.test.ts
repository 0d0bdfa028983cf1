import { describe, expect, it } from 'vitest';
import { lateVerdict } from '../../src/gateway/dispatch/deliver-batch.js';

describe('an event that comes after its flow has ended', () => {
  it.each(['PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING'])(
    'contradicts a failure if it says %s: the crypto was paid, and a refund is owed',
    (status) => {
      expect(lateVerdict(status, 'failed', true)).toMatchObject({ contradicts: true });
      expect(lateVerdict(status, 'completed', true)).toMatchObject({ contradicts: false });
      expect(lateVerdict(status, 'refunded', true)).toMatchObject({ contradicts: false });
    },
  );

  it.each(['REFUNDED', 'REVERSED'])(
    'contradicts a failure if it says %s: what came back had been collected',
    (status) => {
      expect(lateVerdict(status, 'failed', true)).toMatchObject({ contradicts: true });
      expect(lateVerdict(status, 'refunded', true)).toMatchObject({ contradicts: false });
    },
  );

  it('says nothing of a failure if it says that the refund failed, too; it contradicts a refund that was made', () => {
    expect(lateVerdict('REFUND_FAILED', 'failed', true)).toMatchObject({
      contradicts: false,
      detail: 'Agrees: the flow had ended as failed, this says REFUND_FAILED.',
    });
    for (const ended of ['refunded', 'completed'] as const)
      expect(lateVerdict('REFUND_FAILED', ended, true)).toMatchObject({ contradicts: true });
  });

  it.each(['DEPOSIT_INITIATED', 'DEPOSIT_CONFIRMED', 'REQUIRE_REVIEW', null])(
    'says nothing of it with %s',
    (status) => {
      expect(lateVerdict(status, 'failed', true)).toMatchObject({ contradicts: false });
    },
  );
});

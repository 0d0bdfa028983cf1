import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { eventResultsOf, lateVerdict, markLate } from '../../src/gateway/dispatch/deliver-batch.js';
import { VOUCHED } from '../../src/protocol/events.js';
import type { FlowReport } from '../../src/api/flow.js';
import type { FlowFacts } from '../../src/temporal/flow-handle.js';

describe('an event that comes after its flow has ended', () => {
  it.each(['PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING'])(
    'contradicts a failure with %s: the crypto was paid, and a refund is owed',
    (status) => {
      expect(lateVerdict(status, 'failed', true)).toMatchObject({ contradicts: true });
      expect(lateVerdict(status, 'completed', true)).toMatchObject({ contradicts: false });
      expect(lateVerdict(status, 'refunded', true)).toMatchObject({ contradicts: false });
    },
  );

  it.each(['REFUNDED', 'REVERSED'])('contradicts a failure with %s: what came back had been collected', (status) => {
    expect(lateVerdict(status, 'failed', true)).toMatchObject({ contradicts: true });
    expect(lateVerdict(status, 'refunded', true)).toMatchObject({ contradicts: false });
  });

  it('contradicts a failure with CRYPTO_PENDING, the word of an onramp whose fiat was collected, and no completion', () => {
    expect(lateVerdict('CRYPTO_PENDING', 'failed', true)).toMatchObject({ contradicts: true });
    expect(lateVerdict('CRYPTO_PENDING', 'completed', true)).toMatchObject({ contradicts: false });
  });

  it('agrees with a failure when it reports that the refund failed, too; it contradicts a refund that was made', () => {
    expect(lateVerdict('REFUND_FAILED', 'failed', true)).toMatchObject({ contradicts: false });
    for (const ended of ['refunded', 'completed'] as const)
      expect(lateVerdict('REFUND_FAILED', ended, true)).toMatchObject({ contradicts: true });
  });

  it.each(['DEPOSIT_INITIATED', 'DEPOSIT_CONFIRMED', 'REQUIRE_REVIEW', null])(
    'neither agrees nor contradicts with %s',
    (status) => {
      expect(lateVerdict(status, 'failed', true)).toMatchObject({ contradicts: false });
    },
  );
});

describe('lateVerdict, of an event after the end of a flow,', () => {
  const ENDS = ['completed', 'refunded', 'failed', 'expired', 'cancelled', 'parked'] as const;

  it.each([
    ['COMPLETED', ['completed'], true],
    ['REFUNDED', ['refunded'], true],
    ['FAILED', ['refunded', 'failed', 'expired', 'cancelled'], false],
    ['REFUND_PENDING', ['refunded', 'failed', 'expired', 'cancelled'], false],
    ['REFUND_FAILED', ['failed'], false],
    ['CRYPTO_FAILED', ['refunded'], false],
    ['PAYMENT_SENT', ['completed', 'refunded'], false],
  ])(
    'with %s agrees with %j alone; for one that was terminated it proves that money moved: %s',
    (word, agreeing, moved) => {
      const of = (contradicts: boolean) =>
        ENDS.filter((end) => lateVerdict(word, end, true).contradicts === contradicts);
      expect(of(false)).toEqual([...agreeing, ...(moved ? [] : ['parked'])]);
      for (const ended of agreeing)
        expect(lateVerdict(word, ended as 'failed', false)).toEqual({
          contradicts: false,
          detail: `Agrees: the flow had ended as ${ended}, this says ${word}.`,
        });
      const detail = `The flow had been terminated; this says ${word}.`;
      expect(lateVerdict(word, 'parked', true)).toEqual({ contradicts: moved, detail });
      expect(lateVerdict(word, 'parked', false).detail).toBe(`${detail} Its origin is not proven.`);
    },
  );

  it('is that nothing proves its origin, beside what it contradicts', () => {
    const detail = 'CONTRADICTS: the flow had ended as failed, this says COMPLETED.';
    expect(lateVerdict('COMPLETED', 'failed', true)).toEqual({ contradicts: true, detail });
    expect(lateVerdict('COMPLETED', 'failed', false).detail).toBe(`${detail} Its origin is not proven.`);
  });

  it('is nothing without a status, or with one that is not final', () => {
    const detail = 'Came after the flow had ended as failed: ';
    expect(lateVerdict(null, 'failed', true)).toEqual({ contradicts: false, detail: `${detail}no status.` });
    expect(lateVerdict('PENDING', 'failed', true)).toEqual({ contradicts: false, detail: `${detail}PENDING.` });
    expect(lateVerdict('PENDING', 'parked', true)).toMatchObject({ contradicts: false });
  });

  it('is recorded as a matter before its row is settled when it contradicts the end, so that a crash in between loses neither', async () => {
    const settled: unknown[] = [];
    const inbox = { settle: (verdicts: unknown) => Promise.resolve(void settled.push(verdicts)) };
    const facts = { flowId: 'bridge-transfer/r1', state: 'completed' } as FlowFacts;
    const rows = [{ id: 'evt_1', status: 'FAILED', proof: 'signature' }] as const;
    const late = (open: () => Promise<void>) =>
      markLate({ inbox, matters: { open }, logger: pino({ enabled: false }) } as never, rows, facts);
    await expect(late(() => Promise.reject(new Error('the store is away')))).rejects.toThrow('away');
    expect(settled).toEqual([]);
    await late(() => Promise.resolve());
    expect(settled).toMatchObject([[{ id: 'evt_1', state: 'late' }]]);
  });
});

describe('the results in the report of a flow', () => {
  const resultsOf = (events: FlowReport['events'], ...wanted: readonly string[]) =>
    eventResultsOf({ events } as FlowReport, new Set(wanted)).map(({ id, state }) => [id, state]);

  it('are those of the wanted rows alone, each with what it means', () => {
    const events = { a: 'applied', b: 'duplicate', c: 'unverified', d: 'conflicting', e: 'applied' } as const;
    const found = eventResultsOf({ events } as unknown as FlowReport, new Set(['a', 'b', 'c', 'd', 'unknown']));
    expect(found).toEqual([
      { id: 'a', state: 'applied', detail: 'The flow applied it.' },
      { id: 'b', state: 'duplicate', detail: 'The flow knew this already.' },
      { id: 'c', state: 'unverified', detail: 'The flow keeps it as unverified: its origin is not proven.' },
      { id: 'd', state: 'conflicting', detail: 'It contradicts what the flow knows.' },
    ]);
  });

  it.each([
    ['unverified', 'applied', 'applied'],
    ['unverified', 'duplicate', 'duplicate'],
    ['duplicate', 'applied', 'applied'],
    ['applied', 'duplicate', 'applied'],
    ['conflicting', 'duplicate', 'conflicting'],
    ['duplicate', 'conflicting', 'duplicate'],
    ['conflicting', 'applied', 'conflicting'],
  ] as const)('of an event that was %s, and %s once a person vouched for it, are %s', (first, second, said) => {
    expect(resultsOf({ a: first, [`a${VOUCHED}`]: second }, 'a')).toEqual([['a', said]]);
  });
});

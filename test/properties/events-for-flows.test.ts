import * as fc from 'fast-check';
import { expect, it } from '@jest/globals';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';

const long = fc.string({ minLength: 1, maxLength: 3_000 });
/** Every member that some kind reads, with any text or number in it. */
const members =
  'status event amount currency chain token cryptoAmount fiatCurrency senderAddress receiverAddress failure_stage'.split(
    ' ',
  );
const fields = fc.dictionary(fc.constantFrom(...members), fc.oneof(long, fc.double(), fc.constant(null)));
const body = fc.oneof(
  fields,
  fc.record({ event: long, data: fields }),
  fc.record({ status: long, crypto_payment: fields, failure_details: fields, refund_details: fields }),
);

it('an event of an unknown sender brings a flow two kilobytes at most, whatever is in its body', () => {
  fc.assert(
    fc.property(fc.constantFrom(...FLOW_KINDS), body, (kind, content) => {
      const row = { id: 'e1', source: 'settlement', proof: null, receivedAt: '2026-01-01T00:00:00Z', body: content };
      const event = eventOfRow(`${kind}/r1`, row as unknown as InboxRow);
      expect(JSON.stringify(event ?? null).length).toBeLessThan(2_048);
    }),
    { numRuns: 500 },
  );
});

import { describe, expect, it } from '@jest/globals';
import { eventOfRow } from '../../src/flows/event-of-row.js';
import { flowOf } from '../../src/flows/index.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { classifyOfAnyKind, isFinal } from '../../src/protocol/statuses.js';
import { FLOW_KINDS, flowIdOf, type FlowKind } from '../../src/protocol/vocabulary.js';

const OF_EVENTS_ALONE = FLOW_KINDS.filter((kind) => flowOf(kind).status === undefined);
const ENDINGS = ['COMPLETED', 'FAILED', 'REFUNDED', 'REVERSED'];
const OTHERS = ['refund.completed', 'refund.failed', 'refund.lightning.invoice_needed', 'kyc.status.changed', 'system.event']; // prettier-ignore

/** A proven webhook, as its flow sees it. */
const seen = (
  kind: FlowKind,
  event: string | null,
  status: string | null | undefined,
  proof: InboxRow['proof'] = 'signature',
  source: InboxRow['source'] = 'webhook',
) => {
  const data = { reference_id: 'r-1', status };
  const row = { id: 'e', source, proof, body: event === null ? data : { event, data } };
  const found = eventOfRow(flowIdOf(kind, 'r-1'), row as InboxRow);
  if (found === undefined) throw new Error('it reads as no event');
  return found;
};
const settles = (event: ReturnType<typeof seen>) => event.trusted && isFinal(classifyOfAnyKind(event.status));

describe('the status in an event that is named after another object', () => {
  it.each(OF_EVENTS_ALONE)('ends no %s, however the event was proven', (kind) => {
    const confirms = flowOf(kind).webhooks?.includes('payment.confirmed') === true ? [] : ['payment.confirmed'];
    for (const event of [...OTHERS, ...confirms]) {
      for (const status of ENDINGS) expect([event, settles(seen(kind, event, status))]).toEqual([event, false]);
    }
  });

  it.each(OF_EVENTS_ALONE)('holds a refund of ours back when it reports that a %s was refunded', (kind) => {
    const { trusted, proof, status } = seen(kind, 'refund.completed', 'COMPLETED');
    expect([trusted, proof, classifyOfAnyKind(status)]).toEqual([false, null, 'refunded']);
    expect(settles(seen(kind, 'refund.completed', 'COMPLETED', 'person'))).toBe(true);
  });

  it.each(OF_EVENTS_ALONE)('holds a refund of ours back also if it gives no status to a %s', (kind) => {
    for (const status of [null, '', undefined]) {
      const event = seen(kind, 'refund.completed', status);
      expect([event.trusted, classifyOfAnyKind(event.status)]).toEqual([false, 'refunded']);
    }
  });

  it.each(OF_EVENTS_ALONE)('is a claim of it to a %s if the name is that of another operation', (kind) => {
    const own = flowOf(kind).webhooks ?? [];
    for (const operation of ['deposit', 'withdrawal', 'onramp', 'offramp']) {
      const name = `transaction.${operation}.status.updated`;
      for (const status of ENDINGS) {
        const event = seen(kind, name, status);
        expect([name, event.trusted, event.status]).toEqual([name, own.includes(name), status]);
        expect(settles(seen(kind, name, status, 'person'))).toBe(true);
      }
    }
  });

  it.each(OF_EVENTS_ALONE)(
    'is that of the %s itself at its own path if its name fits any kind; of the account, a claim',
    (kind) => {
      for (const event of [null, 'transaction.status.updated', 'settlement.completed', 'a.name.of.tomorrow']) {
        const at = (source: InboxRow['source']) => seen(kind, event, 'COMPLETED', 'signature', source);
        expect(at('callback')).toMatchObject({ trusted: true, status: 'COMPLETED' });
        expect(at('webhook')).toMatchObject({ trusted: false, status: 'COMPLETED' });
      }
    },
  );
});

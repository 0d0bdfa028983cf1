import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Place } from '../../src/gateway/dispatch/dispatcher.js';
import { createIntake } from '../../src/gateway/dispatch/intake.js';
import type { ReceivedEvent } from '../../src/protocol/events.js';
import type { InboxBatch, Receipt } from '../../src/store/inbox.js';
import { anEvent } from '../store/temporary-store.js';
import { settled } from './setup/virtual-clock.js';

const FLOW = 'bridge-transfer/r1';
const leased = { flowId: FLOW, rows: [], hasProven: true, deferrals: 0 } as InboxBatch;

describe('an event at the intake', () => {
  /** What the intake did, in turn. */
  let did: string[];
  let answer: (event: ReceivedEvent) => Promise<Receipt>;
  let hasPlace: boolean;
  let intake: ReturnType<typeof createIntake>;
  beforeEach(() => {
    did = [];
    hasPlace = true;
    answer = ({ id }) => Promise.resolve({ kind: 'stored', id });
    const place: Place = {
      leaseMs: 7,
      deliver: (batch, extent) => did.push(`deliver ${batch.flowId} ${extent}`),
      free: () => did.push('free'),
    };
    intake = createIntake({
      inbox: {
        receive(event, leaseMs) {
          did.push(leaseMs === undefined ? 'receive' : `receive leased ${leaseMs}`);
          return answer(event);
        },
      },
      dispatcher: {
        nudge: () => void did.push('nudge'),
        reserve(flowId, isProven) {
          did.push(`reserve ${flowId} ${isProven ? 'proven' : 'unproven'}`);
          return hasPlace ? place : undefined;
        },
      },
      matcher: { nudge: (isProven) => void did.push(`match ${isProven ? 'proven' : 'unproven'}`) },
    });
  });
  const stored = (event: ReceivedEvent) => ({ kind: 'stored', id: event.id });
  const duplicate = () => (answer = () => Promise.resolve({ kind: 'duplicate', id: 'earlier' }));

  it('of a quiet flow is leased as it is stored, and delivered from there', async () => {
    answer = ({ id }) => Promise.resolve({ kind: 'stored', id, leased });
    const event = anEvent({ flowId: FLOW });
    expect(await intake(event)).toMatchObject(stored(event));
    expect(did).toEqual([`reserve ${FLOW} proven`, 'receive leased 7', `deliver ${FLOW} whole`, 'free']);
  });

  it('is left to the dispatcher, and its place is given back, if its flow is leased to another', async () => {
    const event = anEvent({ flowId: FLOW, proof: null });
    expect(await intake(event)).toEqual(stored(event));
    expect(did).toEqual([`reserve ${FLOW} unproven`, 'receive leased 7', 'nudge', 'free']);
  });

  it('is left to the dispatcher if no place is free', async () => {
    hasPlace = false;
    const event = anEvent({ flowId: FLOW });
    expect(await intake(event)).toEqual(stored(event));
    expect(did).toEqual([`reserve ${FLOW} proven`, 'receive', 'nudge']);
  });

  it('wakes no dispatcher if it is a repeat, with a place or without', async () => {
    duplicate();
    expect(await intake(anEvent({ flowId: FLOW }))).toEqual({ kind: 'duplicate', id: 'earlier' });
    hasPlace = false;
    expect(await intake(anEvent({ flowId: FLOW }))).toEqual({ kind: 'duplicate', id: 'earlier' });
    expect(did.join()).not.toContain('nudge');
    expect(did).toContain('free');
  });

  it('is delivered with the others of its flow that come while it is stored; those of another flow are not counted', async () => {
    const waiting: ((receipt: Receipt) => void)[] = [];
    answer = () => new Promise((resolve) => waiting.push(resolve));
    const events = [anEvent({ flowId: FLOW }), anEvent({ flowId: FLOW }), anEvent({ flowId: 'bridge-transfer/r2' })];
    const receipts = events.map(intake);
    expect(did).toEqual([
      `reserve ${FLOW} proven`,
      'receive leased 7',
      'receive',
      'reserve bridge-transfer/r2 proven',
      'receive leased 7',
    ]);
    did.length = 0;
    waiting[0]?.({ kind: 'stored', id: 'a', leased });
    waiting[2]?.({ kind: 'stored', id: 'c', leased: { ...leased, flowId: 'bridge-transfer/r2' } });
    await settled();
    expect(did).toEqual([`deliver ${FLOW} more came`, 'free', 'deliver bridge-transfer/r2 whole', 'free']);
    waiting[1]?.({ kind: 'stored', id: 'b' });
    expect((await Promise.all(receipts)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(did.at(-1)).toBe('nudge');
  });

  it('has a place of its own once the one before it is stored, or could not be', async () => {
    answer = () => Promise.reject(new Error('full'));
    await expect(intake(anEvent({ flowId: FLOW }))).rejects.toThrow('full');
    expect(did.splice(0)).toEqual([`reserve ${FLOW} proven`, 'receive leased 7', 'free']);
    answer = ({ id }) => Promise.resolve({ kind: 'stored', id, leased });
    await intake(anEvent({ flowId: FLOW }));
    expect(did.splice(0)).toContain(`deliver ${FLOW} whole`);
    await intake(anEvent({ flowId: FLOW }));
    expect(did).toContain(`deliver ${FLOW} whole`);
  });

  it.each([
    [{ toMatch: true, proof: 'signature' }, ['receive', 'match proven']],
    [{ toMatch: true, proof: null }, ['receive', 'match unproven']],
    [{ toMatch: false, proof: 'signature' }, ['receive']],
    [{ proof: 'signature' }, ['receive']],
  ] as const)('of no flow, with %j, is stored, and matched if the claims can name it: %j', async (members, done) => {
    const event = anEvent({ flowId: null, ...members });
    expect(await intake(event)).toEqual(stored(event));
    expect(did).toEqual(done);
  });

  it('of no flow that is a repeat is not matched again', async () => {
    duplicate();
    expect(await intake(anEvent({ flowId: null, toMatch: true }))).toMatchObject({ id: 'earlier' });
    expect(did).toEqual(['receive']);
  });
});

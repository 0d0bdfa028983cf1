import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { NotSentError } from '../../src/service-client/index.js';
import type { ClaimStore } from '../../src/store/claim.js';
import type { FlowReport } from '../../src/api/flow.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { noted, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

const TIME_SCALE = 0.01;

describe('a deposit that is held back by an event of the inbox', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  /** The reference was used at the service before; its event is in the inbox before the flow begins. */
  const beforeItsFlow = async (word: string, status: string, body: Record<string, string> = {}) => {
    const reference = newReference(word);
    const event = trusted(status, { facts: body });
    await bench.store.inbox.receive({
      id: event.id,
      source: 'callback',
      flowId: `bridge-transfer/${reference}`,
      reference,
      status,
      proof: 'capability',
      contentHash: randomUUID(),
      body: { status, ...body },
    });
    return { reference, event };
  };
  const started = (reference: string, deadlineSeconds: number) =>
    bench.start(transferInput(reference, { timeScale: TIME_SCALE, deadlineSeconds }));
  const heldBack = async (word: string, deadlineSeconds: number) => {
    const { reference, event } = await beforeItsFlow(word, 'PAYMENT_CONFIRMED', { token: 'USDT' });
    return { reference, event, handle: await started(reference, deadlineSeconds) };
  };
  /** A gateway gave it up, since no flow of this id was there in a day. A Temporal client then starts one. */
  const givenUp = async (word: string, status: string, body: Record<string, string> = {}) => {
    const { reference, event } = await beforeItsFlow(word, status, body);
    await bench.store.inbox.settle([{ id: event.id, state: 'unmatched', detail: 'no flow' }]);
    return { reference, event, handle: await started(reference, 360_000) };
  };
  const resolve = (handle: WorkflowHandle, action: string) =>
    handle.executeUpdate('resolve', { args: [{ action, note: 'asked', actor: 'ada' }] });
  const parkedAs = (handle: WorkflowHandle, reason: string) =>
    untilFlow(handle, ({ view }) => view.parked?.reason === reason);

  test('is found there without a signal; dismissed, the flow parks, and is closed with nothing sent', async () => {
    const { reference, handle } = await heldBack('set-aside', 360_000);
    await parkedAs(handle, 'event_mismatch');
    await resolve(handle, 'dismiss-event');
    const { view } = await parkedAs(handle, 'unknown_outcome');
    expect(view.parked?.actions).toEqual(['close-not-executed', 'mark-completed', 'mark-refunded']);
    await resolve(handle, 'close-not-executed');
    const { view: ended } = await untilFlow(handle, (report) => report.view.outcome !== null);
    expect(ended.outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
  });

  test('asks a person about an event that differs, and is sent once that one is dismissed', async () => {
    const { reference, event, handle } = await heldBack('differs', 360_000);
    await handle.signal('events', [event]);
    const { view } = await parkedAs(handle, 'event_mismatch');
    expect(view.parked?.evidence).toMatchObject({ differs: ['token'], theirs: { token: 'USDT' } });
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
    await resolve(handle, 'dismiss-event');
    // It is of another transfer: ours is sent.
    await noted(handle, 'accepted');
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
  });

  test('is found there as well if it was listed as unmatched, and parks the flow if it differs', async () => {
    const { reference, event, handle } = await givenUp('unmatched-differs', 'PAYMENT_CONFIRMED', { token: 'USDT' });
    const { view } = await parkedAs(handle, 'event_mismatch');
    expect(view.parked?.evidence).toMatchObject({ event: { id: event.id }, differs: ['token'] });
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
    await handle.terminate();
  });

  test('is applied if it was listed as unmatched and agrees: the flow ends by it, with nothing sent', async () => {
    const { reference, event, handle } = await givenUp('unmatched-agrees', 'COMPLETED');
    const { view, events } = (await handle.result()) as FlowReport;
    expect(view.state).toBe('completed');
    expect(events).toEqual({ [event.id]: 'applied' });
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
  });
});

describe('a submit that is under way at the deadline, and turns out not to have been sent', () => {
  let bench: Stack;
  let own: Stack;
  /** Reaches nothing: each attempt to withdraw ends as the test says. */
  let connect: () => Promise<void> = () => Promise.resolve();
  /** The deadline has asked for the claim, and the claim may be sent. */
  let refuse: () => void = () => undefined;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping' });
    const service = {
      ...bench.deps.service,
      createBankWithdrawal: async () => {
        await connect();
        throw new NotSentError('createBankWithdrawal', 'refused');
      },
    };
    const { store } = bench.deps;
    const claims: ClaimStore = Object.create(store.claims, {
      voidAll: {
        async value(...order: Parameters<ClaimStore['voidAll']>) {
          const found = await store.claims.voidAll(...order);
          refuse();
          return found;
        },
      },
    });
    own = await openStack({ time: 'skipping', deps: { ...bench.deps, service, store: { ...store, claims } } });
  });
  afterAll(async () => {
    await own.close();
    await bench.close();
  });

  /**
   * Returns when the deadline tried in vain to void the claim; `giveUp` lets the attempt find that it reached nothing.
   */
  const atDeadline = async (word: string, timing: { timeScale: number; deadlineSeconds: number }) => {
    let giveUp: () => void = () => undefined;
    const connected = new Promise<void>((resolve) => (giveUp = resolve));
    connect = () => connected;
    const refused = new Promise<void>((resolve) => (refuse = resolve));
    const reference = newReference(word);
    const handle = await own.startFlow('bank-withdrawal', reference, {
      referenceId: reference,
      bankDetails: { bankCode: '0250', accountNumber: '62000000001', country: 'ZA' },
      currency: 'ZAR',
      amount: '250.50',
      ...timing,
    });
    await refused;
    return { reference, handle, giveUp };
  };
  const ended = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.outcome !== null);

  test('expires: the claim is voided between two attempts', async () => {
    const { reference, handle, giveUp } = await atDeadline('expires', { timeScale: TIME_SCALE, deadlineSeconds: 100 });
    giveUp();
    expect((await ended(handle)).view.outcome).toMatchObject({ state: 'expired', reason: 'deadline_passed' });
    expect(await bench.executions('createBankWithdrawal', reference)).toBe(0);
  });
});

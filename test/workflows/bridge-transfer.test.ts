import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkflowFailedError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { FlowReport } from '../../src/api/flow.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { ACCOUNT } from '../harness/fixed.js';
import { expiredQuote, transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { entriesOf, reportOf, untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

const HAPPY = ['DEPOSIT_CONFIRMED', 'PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING', 'COMPLETED'];

describe('a bridge transfer', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'real', sandbox: { stepMs: 3_600_000 } });
  });
  afterAll(() => bench.close());

  const started = async (word: string, more: Record<string, unknown> = {}) => {
    const reference = newReference(word);
    return { reference, handle: await bench.start(transferInput(reference, more)) };
  };
  const tracked = async (word: string, more: Record<string, unknown> = {}) => {
    const flow = await started(word, more);
    await untilFlow(flow.handle, ({ view }) => view.stage === 'tracking');
    return flow;
  };
  const failureOf = async (result: Promise<unknown>): Promise<ApplicationFailure> => {
    const error = await result.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(WorkflowFailedError);
    return (error as WorkflowFailedError).cause as ApplicationFailure;
  };
  const orderRefused = async (order: Promise<unknown>): Promise<string | null | undefined> => {
    const error = await order.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(WorkflowUpdateFailedError);
    return ((error as WorkflowUpdateFailedError).cause as ApplicationFailure).type;
  };

  test('completes on trusted events, with one execution and at most 40 history events', async () => {
    const { reference, handle } = await tracked('happy');
    for (const status of HAPPY) await handle.signal('events', [trusted(status)]);
    const result = (await handle.result()) as FlowReport;
    expect(result.view.state).toBe('completed');
    expect(Object.values(result.events)).toEqual(HAPPY.map(() => 'applied'));
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    const history = await handle.fetchHistory();
    expect(history.events?.length).toBeLessThanOrEqual(40);
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });

  test('takes the events of one signal together, each id once', async () => {
    const { handle } = await tracked('batch');
    const events = HAPPY.map((status) => trusted(status));
    await handle.signal('events', [...events, ...events]);
    const result = (await handle.result()) as FlowReport;
    expect(Object.keys(result.events)).toHaveLength(HAPPY.length);
  });

  test('ends as refunded when a trusted refund follows a failure', async () => {
    const { handle } = await tracked('refunded');
    await handle.signal('events', [
      trusted('FAILED', { facts: { refundAnnounced: 'true', failureStage: 'SETTLEMENT' } }),
    ]);
    await untilFlow(handle, ({ view }) => view.stage === 'refunding');
    await handle.signal('events', [trusted('REFUNDED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('refunded');
  });

  test('ends as failed, and closes Failed with the reason as type, if no crypto was paid', async () => {
    const { handle } = await tracked('failed', { timeScale: 0.01, deadlineSeconds: 2_592_000 });
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'FIAT_COLLECTION' } })]);
    const failure = await failureOf(handle.result());
    expect(failure.type).toBe('failed_at_service');
    expect(failure.details?.[0]).toMatchObject({ view: { state: 'failed' } });
  });

  test('keeps an untrusted COMPLETED, shows it as unverified, and ends on the trusted one', async () => {
    const { handle } = await tracked('forged');
    const forged = trusted('COMPLETED', { trusted: false, proof: null, source: 'settlement' });
    await handle.signal('events', [forged]);
    const shown = await untilFlow(handle, ({ events }) => forged.id in events);
    expect(shown.events[forged.id]).toBe('unverified');
    expect(shown.view.state).toBe('running');
    const genuine = trusted('COMPLETED');
    await handle.signal('events', [genuine]);
    const result = (await handle.result()) as FlowReport;
    expect(result.events).toMatchObject({ [genuine.id]: 'applied', [forged.id]: 'duplicate' });
  });

  test('parks on a trusted event that differs from what we know, with both sides shown', async () => {
    const { handle } = await tracked('mismatch');
    const wrong = trusted('COMPLETED', { facts: { settlementAmount: '999', settlementCurrency: 'ZAR' } });
    await handle.signal('events', [wrong]);
    const { view } = await untilFlow(handle, ({ view }) => view.state === 'parked');
    expect(view.parked).toMatchObject({
      reason: 'event_mismatch',
      actions: ['accept-event', 'dismiss-event'],
      evidence: {
        differs: ['settlementAmount'],
        theirs: { settlementAmount: '999' },
        ours: { settlementAmount: '100' },
      },
    });
    await handle.executeUpdate('resolve', { args: [{ action: 'dismiss-event', note: 'not ours', actor: 'ada' }] });
    expect((await untilFlow(handle, ({ view }) => view.state === 'running')).events[wrong.id]).toBe('conflicting');
    await handle.signal('events', [trusted('COMPLETED', { facts: { settlementAmount: '100.00' } })]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  });

  test('fault 27: parks when trusted events contradict one another, and ends as a person decides', async () => {
    const { handle } = await tracked('conflict');
    await handle.signal('events', [trusted('REFUNDED'), trusted('COMPLETED')]);
    const { view } = await untilFlow(handle, ({ view }) => view.state === 'parked');
    expect(view.parked).toMatchObject({ reason: 'conflict', evidence: { proven: ['COMPLETED', 'REFUNDED'] } });
    expect((await handle.describe()).searchAttributes).toMatchObject({
      TowlineState: ['parked'],
      TowlineParkReason: ['conflict'],
    });
    expect(
      await orderRefused(
        handle.executeUpdate('resolve', { args: [{ action: 'refund-now', note: 'x', actor: 'ada' }] }),
      ),
    ).toBe('unknown_action');
    await handle.executeUpdate('resolve', {
      args: [{ action: 'mark-completed', note: 'the recipient confirmed', actor: 'ada' }],
    });
    const result = (await handle.result()) as FlowReport;
    expect(result.view.outcome).toMatchObject({ state: 'completed', reason: null });
  });

  test('keeps an unknown status word and treats it as not final', async () => {
    const { handle } = await tracked('unknown-word');
    const strange = trusted('REQUIRE_REVIEW');
    await handle.signal('events', [strange]);
    const report = await untilFlow(handle, ({ events }) => strange.id in events);
    expect(report.view.state).toBe('running');
    expect(entriesOf(report.view, 'status-unknown', 'REQUIRE_REVIEW')).toHaveLength(1);
    await handle.signal('events', [trusted('COMPLETED')]);
    await handle.result();
  });

  test('keeps events that come before the answer to the deposit', async () => {
    const { handle } = await started('early');
    await handle.signal('events', [trusted('DEPOSIT_CONFIRMED'), trusted('COMPLETED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  });

  test('waits for the approval of its quote, and quotes nothing else meanwhile', async () => {
    const { reference, handle } = await started('approval', { approval: 'required' });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
    await handle.executeUpdate('approveQuote', { args: [{ actor: 'ada' }] });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    await handle.terminate();
  });

  test('is cancelled before the deposit: closes Cancelled, and nothing was sent', async () => {
    const { reference, handle } = await started('cancel', { approval: 'required' });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    await handle.executeUpdate('cancel', { args: [{ actor: 'ada', note: 'changed our mind' }] });
    const error = await handle.result().catch((thrown: unknown) => thrown as WorkflowFailedError);
    expect(((error as WorkflowFailedError).cause as CancelledFailure).name).toBe('CancelledFailure');
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    expect((await reportOf(handle)).view.outcome).toMatchObject({
      state: 'cancelled',
      reason: 'cancelled_before_sending',
    });
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
  });

  test('is cancelled by the Cancel of the Temporal UI before the deposit, too', async () => {
    const { handle } = await started('ui-cancel', { approval: 'required' });
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    await handle.cancel();
    await handle.result().catch(() => undefined);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
  });

  test('refuses a cancel once money may have moved, notes it, and completes', async () => {
    const { handle } = await tracked('late-cancel');
    expect(await orderRefused(handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] }))).toBe(
      'money_may_have_moved',
    );
    await handle.cancel();
    const { view } = await untilFlow(handle, ({ view }) => view.timeline.some((entry) => entry.by === 'Temporal UI'));
    expect(view.state).toBe('running');
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  });

  test('ends as invalid_input before any claim, naming the members and not their values', async () => {
    const reference = newReference('invalid');
    const { amount: _, ...input } = transferInput(reference, { chain: 'MOON', secret: 'canary-value' });
    const handle = await bench.start(input);
    const failure = await failureOf(handle.result());
    expect(failure.type).toBe('invalid_input');
    expect(failure.message).toMatch(/amount/);
    expect(failure.message).toMatch(/chain/);
    expect(failure.message).not.toContain('canary-value');
    expect(await bench.store.claims.ofFlow(`bridge-transfer/${reference}`)).toEqual([]);
  });

  test('refuses a workflow id that is not its reference: one reference is one flow', async () => {
    const reference = newReference('id');
    const handle = await bench.start(transferInput(reference), `bridge-transfer/${reference}-other`);
    expect((await failureOf(handle.result())).type).toBe('invalid_input');
  });

  test('ends as rejected_by_service with the reason of the service', async () => {
    const reference = newReference('rejected');
    await bench.control('POST', '/scenarios', { reference, ending: 'rejected' });
    const handle = await bench.start(transferInput(reference));
    const failure = await failureOf(handle.result());
    expect(failure.type).toBe('rejected_by_service');
    expect((await bench.store.claims.ofFlow(`bridge-transfer/${reference}`)).map((claim) => claim.phase)).toEqual([
      'rejected',
    ]);
  });

  test('quotes again when its quote has expired before it is sent, and sends once', async () => {
    const reference = newReference('expired-once');
    const quote = expiredQuote(reference);
    await bench.store.quotes.remember(ACCOUNT, quote, 1_000);
    const handle = await bench.start(transferInput(reference, { rate_id: quote.rateId }));
    const { view } = await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    expect(entriesOf(view, 'quoted')).toHaveLength(2);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(1);
    await handle.terminate();
  });

  test('asks a person when the service reports that the rate expired: a copy of the deposit may have used it up', async () => {
    const reference = newReference('expired-there');
    await bench.control('POST', '/scenarios', { reference, ending: 'rate-expired', times: 1 });
    const handle = await bench.start(transferInput(reference, { timeScale: 0.001, deadlineSeconds: 2_592_000 }));
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('unknown_outcome');
    await handle.terminate();
  });

  test('ends as quote_rejected, with its claim void and nothing sent, when its expired quote cannot be replaced', async () => {
    const reference = newReference('expired-always');
    const quote = expiredQuote(reference, false);
    await bench.store.quotes.remember(ACCOUNT, quote, 1_000);
    const handle = await bench.start(transferInput(reference, { rate_id: quote.rateId }));
    expect((await failureOf(handle.result())).type).toBe('quote_rejected');
    expect((await bench.store.claims.ofFlow(`bridge-transfer/${reference}`)).map((claim) => claim.phase)).toEqual([
      'void',
      'void',
    ]);
    expect(await bench.executions('createBridgeDeposit', reference)).toBe(0);
  });

  test('answers the update "answer" with the service\'s answer', async () => {
    const { handle } = await started('answer');
    const answer = await handle.executeUpdate<{ kind: string; answer: { kotani_reference_id: string } }, []>('answer');
    expect(answer.kind).toBe('accepted');
    expect(answer.answer.kotani_reference_id).toMatch(/./);
    await handle.terminate();
  });

  test('ignores a signal that is no list of events, and continues', async () => {
    const { handle } = await tracked('nonsense');
    for (const nonsense of [null, 'x', 7, {}, [null, { id: 1 }, []]]) await handle.signal('events', nonsense);
    await handle.signal('events');
    await handle.signal('events', [trusted('COMPLETED', { facts: { settlementAmount: 'not a number' } })]);
    await untilFlow(handle, ({ view }) => view.state === 'parked');
    await handle.executeUpdate('resolve', { args: [{ action: 'accept-event', note: 'seen', actor: 'ada' }] });
    expect(((await handle.result()) as FlowReport).view.state).toBe('completed');
  });

  test('continues as new after many signals, with ids and deadline carried along, and ends', async () => {
    const { handle } = await tracked('many');
    const first = await reportOf(handle);
    const latest = bench.client.workflow.getHandle(handle.workflowId);
    const repeated: FlowEvent[] = Array.from({ length: 50 }, () => trusted('DEPOSIT_CONFIRMED'));
    for (let signal = 0; signal < 200; signal += 1) {
      await latest.signal('events', signal % 4 === 0 ? repeated : [trusted('PAYMENT_SENT')]);
      // Like the dispatcher: the next signal is sent when the flow has taken this one.
      if (signal % 20 === 0) await reportOf(latest);
    }
    const answer = await latest.executeUpdate<{ kind: string }, []>('answer');
    expect(answer.kind).toBe('accepted');
    await latest.signal('events', [trusted('COMPLETED')]);
    const result = (await latest.result()) as FlowReport;
    expect(result.view.state).toBe('completed');
    expect(result.view.deadlineAt).toBe(first.view.deadlineAt);
    expect(Object.keys(result.events)).toHaveLength(50 + 150 + 1);
    const lastRun = await latest.fetchHistory();
    const signals = lastRun.events?.filter((event) => event.workflowExecutionSignaledEventAttributes) ?? [];
    expect(signals.length).toBeLessThanOrEqual(200);
    expect(lastRun.events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).not.toBe('');
  });
});

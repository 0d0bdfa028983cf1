import type { WorkflowHandle, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { FlowReport } from '../../src/flows/messages.js';
import type { FlowState, ParkReason } from '../../src/flows/vocabulary.js';
import { trusted, until } from '../workflows/bench.js';
import type { Stage } from './stage.js';

/** One flow as it is recorded; the key in `scenes` is its reference and its file's name. */
export interface Scene {
  readonly ends: FlowState;
  /** Where it ended otherwise than by completion or refund: the reason. */
  readonly reason?: string;
  play(stage: Stage, reference: string): Promise<Flow>;
}

type Flow = WorkflowHandleWithFirstExecutionRunId;

/** Waits of our own in a hundredth, or a thousandth, of their time. */
const HUNDREDTH = { timeScale: 0.01 };
const THOUSANDTH = { timeScale: 0.001 };

const HAPPY = ['DEPOSIT_CONFIRMED', 'PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING', 'COMPLETED'];
const REFUND_DUE = { facts: { refundAnnounced: 'true', failureStage: 'SETTLEMENT' } };
const COMPLETED = () => trusted('COMPLETED');
const UNTRUSTED = { trusted: false, proof: null, source: 'settlement' } as const;

const stage = (flow: WorkflowHandle, name: string) => until(flow, ({ view }) => view.stage === name);
const parked = (flow: WorkflowHandle, reason: ParkReason) =>
  until(flow, ({ view }) => view.parked?.reason === reason && view.state === 'parked');
const noted = (flow: WorkflowHandle, text: string) =>
  until(flow, ({ view }) => view.timeline.some(({ detail }) => detail.includes(text)));
const send = (flow: WorkflowHandle, ...events: ReturnType<typeof trusted>[]) => flow.signal('events', events);
const resolve = (flow: WorkflowHandle, action: string) =>
  flow.executeUpdate('resolve', { args: [{ action, note: 'as recorded', actor: 'ada' }] });

async function tracked(on: Stage, reference: string, more: Record<string, unknown> = {}): Promise<Flow> {
  const flow = await on.start(reference, more);
  await stage(flow, 'tracking');
  return flow;
}

/** Failed after the crypto was paid, and nobody refunds it within the wait. */
async function overdueRefund(on: Stage, reference: string, more: Record<string, unknown>): Promise<Flow> {
  await on.sandbox('/scenarios', { reference, ending: 'silent' });
  const flow = await tracked(on, reference, { ...THOUSANDTH, ...more });
  await send(flow, trusted('FAILED', REFUND_DUE));
  return flow;
}

/** Every ending, every wait and every activity of a bridge transfer, at least once. */
export const scenes: Readonly<Record<string, Scene>> = {
  completed: {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      for (const status of HAPPY) await send(flow, trusted(status));
      return flow;
    },
  },

  refunded: {
    ends: 'refunded',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('FAILED', REFUND_DUE));
      await stage(flow, 'refunding');
      await send(flow, trusted('REFUNDED'));
      return flow;
    },
  },

  'failed-early': {
    ends: 'failed',
    reason: 'failed_at_service',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('FAILED', { facts: { failureStage: 'FIAT_COLLECTION' } }));
      return flow;
    },
  },

  'invalid-input': {
    ends: 'failed',
    reason: 'invalid_input',
    play: (on, reference) => on.start(reference, { chain: 'MOON' }),
  },

  rejected: {
    ends: 'failed',
    reason: 'rejected_by_service',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'rejected' });
      return on.start(reference);
    },
  },

  'forgetful-store': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, COMPLETED());
      return flow;
    },
  },

  'forgetful-store-rejected': {
    ends: 'failed',
    reason: 'rejected_by_service',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'rejected' });
      return on.start(reference);
    },
  },

  approved: {
    ends: 'completed',
    async play(on, reference) {
      const flow = await on.start(reference, { approval: 'required' });
      await stage(flow, 'awaiting-approval');
      await send(flow, trusted('DEPOSIT_CONFIRMED'));
      await flow.executeUpdate('approveQuote', { args: [{ actor: 'ada' }] });
      await stage(flow, 'tracking');
      await send(flow, COMPLETED());
      return flow;
    },
  },

  'cancelled-before-deposit': {
    ends: 'cancelled',
    reason: 'cancelled_before_sending',
    async play(on, reference) {
      const flow = await on.start(reference, { approval: 'required' });
      await stage(flow, 'awaiting-approval');
      await flow.executeUpdate('cancel', { args: [{ actor: 'ada', note: 'as recorded' }] });
      return flow;
    },
  },

  'cancelled-in-ui': {
    ends: 'cancelled',
    reason: 'cancelled_before_sending',
    async play(on, reference) {
      const flow = await on.start(reference, { approval: 'required' });
      await stage(flow, 'awaiting-approval');
      await flow.cancel();
      return flow;
    },
  },

  'cancel-refused': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await flow.cancel();
      await noted(flow, 'cancel refused');
      await send(flow, COMPLETED());
      return flow;
    },
  },

  expired: {
    ends: 'expired',
    reason: 'deadline_passed',
    play: (on, reference) => on.start(reference, { approval: 'required', deadlineSeconds: 1 }),
  },

  requoted: {
    ends: 'completed',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'rate-expired', times: 2 });
      const flow = await tracked(on, reference);
      await send(flow, COMPLETED());
      return flow;
    },
  },

  'quote-rejected': {
    ends: 'failed',
    reason: 'quote_rejected',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'rate-expired', times: 50 });
      return on.start(reference);
    },
  },

  'unknown-proven-by-event': {
    ends: 'completed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'createBridgeDeposit', kind: 'answer-lost', first: 1, reference });
      const flow = await on.start(reference);
      await stage(flow, 'outcome-unknown');
      await send(flow, trusted('DEPOSIT_CONFIRMED'));
      await stage(flow, 'tracking');
      await send(flow, COMPLETED());
      return flow;
    },
  },

  'unknown-sent-again': {
    ends: 'completed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1, reference });
      const flow = await on.start(reference, HUNDREDTH);
      await parked(flow, 'unknown_outcome');
      await resolve(flow, 'send-again');
      await stage(flow, 'tracking');
      await send(flow, COMPLETED());
      return flow;
    },
  },

  'unknown-closed': {
    ends: 'failed',
    reason: 'not_executed',
    async play(on, reference) {
      await on.sandbox('/faults', { operation: 'createBridgeDeposit', kind: 'reset-before', first: 1, reference });
      const flow = await on.start(reference, HUNDREDTH);
      await parked(flow, 'unknown_outcome');
      await resolve(flow, 'close-not-executed');
      return flow;
    },
  },

  mismatch: {
    ends: 'completed',
    async play(on, reference) {
      // A day without an answer takes a second here, and so the flow reminds.
      const flow = await tracked(on, reference, { timeScale: 0.000_01, deadlineSeconds: 2_592_000 });
      await send(flow, trusted('COMPLETED', { facts: { settlementAmount: '999', settlementCurrency: 'ZAR' } }));
      await parked(flow, 'event_mismatch');
      await new Promise((passed) => setTimeout(passed, 1_500));
      await resolve(flow, 'dismiss-event');
      await send(flow, COMPLETED());
      return flow;
    },
  },

  conflict: {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('REFUNDED'), COMPLETED());
      await parked(flow, 'conflict');
      await resolve(flow, 'mark-completed');
      return flow;
    },
  },

  forged: {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      await send(flow, trusted('COMPLETED', UNTRUSTED), trusted('REQUIRE_REVIEW'));
      await noted(flow, 'unverified COMPLETED');
      await send(flow, COMPLETED());
      return flow;
    },
  },

  'unverified-trusted-by-person': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference, { ...HUNDREDTH, deadlineSeconds: 100 });
      await send(flow, trusted('COMPLETED', { ...UNTRUSTED, id: await received(on, reference, 'COMPLETED') }));
      await parked(flow, 'unverified_settlement');
      await resolve(flow, 'trust-settlement');
      return flow;
    },
  },

  'no-settlement': {
    ends: 'failed',
    reason: 'closed_by_person',
    async play(on, reference) {
      const flow = await tracked(on, reference, { ...HUNDREDTH, deadlineSeconds: 50 });
      await parked(flow, 'no_settlement');
      await resolve(flow, 'keep-waiting');
      await until(flow, ({ view }) => view.state === 'running');
      await parked(flow, 'no_settlement');
      await resolve(flow, 'mark-failed');
      return flow;
    },
  },

  'late-event-decides': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference, { ...HUNDREDTH, deadlineSeconds: 50 });
      await parked(flow, 'no_settlement');
      await send(flow, COMPLETED());
      return flow;
    },
  },

  'settlement-reported': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      const id = await received(on, reference, 'COMPLETED');
      await send(flow, trusted('COMPLETED', { id, source: 'settlement', proof: 'signature' }));
      return flow;
    },
  },

  'own-refund': {
    ends: 'refunded',
    play: (on, reference) => overdueRefund(on, reference, { refund: { auto: true } }),
  },

  'own-refund-answer-lost': {
    ends: 'refunded',
    async play(on, reference) {
      const refund = `${reference}.refund`;
      await on.sandbox('/faults', { operation: 'sendCrypto', kind: 'answer-lost', first: 1, reference: refund });
      return overdueRefund(on, reference, { refund: { auto: true } });
    },
  },

  'own-refund-failed': {
    ends: 'refunded',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference: `${reference}.refund`, ending: 'rejected' });
      const flow = await overdueRefund(on, reference, { refund: { auto: true } });
      await parked(flow, 'refund_failed');
      await resolve(flow, 'mark-refunded');
      return flow;
    },
  },

  'refund-ordered-by-person': {
    ends: 'refunded',
    async play(on, reference) {
      const flow = await overdueRefund(on, reference, {});
      await parked(flow, 'refund_needed');
      await resolve(flow, 'refund-now');
      return flow;
    },
  },

  'continued-as-new': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference);
      const latest = on.client.workflow.getHandle(flow.workflowId);
      await latest.signal('events', [trusted('DEPOSIT_CONFIRMED'), trusted('COMPLETED', UNTRUSTED)]);
      // Empty ones count, too, and make a small file.
      for (let signals = 1; signals < 180; signals += 1) await latest.signal('events', []);
      await untilContinued(latest, flow.firstExecutionRunId);
      await send(latest, COMPLETED());
      return flow;
    },
  },
};

/** A settlement in the inbox, whose body the report to the service is made of. */
async function received(on: Stage, reference: string, status: string): Promise<string> {
  const id = `recorded-${reference}`;
  const flowId = `bridge-transfer/${reference}`;
  const body = { status, crypto_payment: {}, timestamp: new Date().toISOString() };
  const row = { id, source: 'settlement', flowId, reference, status, proof: 'signature', contentHash: id } as const;
  await on.store.inbox.receive({ ...row, body });
  return id;
}

async function untilContinued(flow: WorkflowHandle, firstRunId: string): Promise<void> {
  for (;;) {
    if ((await flow.describe()).runId !== firstRunId) return;
    await new Promise((passed) => setTimeout(passed, 50));
  }
}

/** How it ended, once it has. */
export async function endingOf(on: Stage, flow: Flow): Promise<FlowReport['view']> {
  const latest = on.client.workflow.getHandle(flow.workflowId);
  await latest.result().catch(() => undefined);
  return (await latest.query<FlowReport>('flow')).view;
}

import {
  WorkflowUpdateFailedError,
  type WorkflowHandle,
  type WorkflowHandleWithFirstExecutionRunId,
} from '@temporalio/client';
import type { FlowReport } from '../../src/api/flow.js';
import type { FlowState, ParkReason } from '../../src/protocol/vocabulary.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import type { Stage } from './stage.js';

/** One flow as it is recorded. */
interface Scene {
  readonly ends: FlowState;
  /** The reason, if it ended other than by completion or refund. */
  readonly reason?: string;
  /** On a stage whose service has what the live one has beyond the interface. @default one without */
  readonly isLive?: true;
  play(stage: Stage, reference: string): Promise<Flow>;
}

/** By name, which is the reference of the flow and the name of its file. */
export type Scenes = Readonly<Record<string, Scene>>;

type Flow = WorkflowHandleWithFirstExecutionRunId;

/** Waits of our own in a hundredth, or a thousandth, of their time. */
export const HUNDREDTH = { timeScale: 0.01 };
const THOUSANDTH = { timeScale: 0.001 };

export const HAPPY = ['DEPOSIT_CONFIRMED', 'PAYMENT_SENT', 'PAYMENT_CONFIRMED', 'SETTLING', 'COMPLETED'];
export const REFUND_DUE = { facts: { refundAnnounced: 'true', failureStage: 'SETTLEMENT' } };
export const completed = () => trusted('COMPLETED');
export const UNPROVEN = { trusted: false, proof: null, source: 'settlement' } as const;

export const stage = (flow: WorkflowHandle, name: string) => untilFlow(flow, ({ view }) => view.stage === name);
export const parked = (flow: WorkflowHandle, reason: ParkReason) =>
  untilFlow(flow, ({ view }) => view.parked?.reason === reason && view.state === 'parked');
export const send = (flow: WorkflowHandle, ...events: ReturnType<typeof trusted>[]) => flow.signal('events', events);
export const resolve = (flow: WorkflowHandle, action: string) =>
  flow.executeUpdate('resolve', { args: [{ action, note: 'as recorded', actor: 'ada' }] });

export const cancel = (flow: WorkflowHandle) =>
  flow.executeUpdate('cancel', { args: [{ actor: 'ada', note: 'as recorded' }] });

/** @throws Error if the flow carries it out */
export const refused = (order: Promise<unknown>): Promise<void> =>
  order.then(
    () => Promise.reject(new Error('it was carried out')),
    (error: unknown) => {
      if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    },
  );

/** Moves what the sandbox has under this reference by hand, step by step. */
export async function move(on: Stage, reference: string, ...statuses: readonly string[]): Promise<void> {
  for (const status of statuses) await on.move(reference, status, operationOf(reference));
}

/** An invoice and its payment have the same reference. */
const operationOf = (reference: string) => (reference.startsWith('invoice') ? 'payInvoice' : undefined);

export async function tracked(on: Stage, reference: string, more: Record<string, unknown> = {}): Promise<Flow> {
  const flow = await on.start(reference, more);
  await stage(flow, 'tracking');
  return flow;
}

/** Failed after the crypto was paid, and without a refund within the wait. */
export async function overdueRefund(on: Stage, reference: string, more: Record<string, unknown>): Promise<Flow> {
  await on.sandbox('/scenarios', { reference, ending: 'silent' });
  const flow = await tracked(on, reference, { ...THOUSANDTH, ...more });
  await send(flow, trusted('FAILED', REFUND_DUE));
  return flow;
}

/** A settlement in the inbox, from whose body the report to the service is made. */
export async function received(on: Stage, reference: string, status: string, token?: string): Promise<string> {
  const id = `recorded-${reference}`;
  const flowId = `bridge-transfer/${reference}`;
  const body = { status, crypto_payment: token === undefined ? {} : { token }, timestamp: new Date().toISOString() };
  const row = { id, source: 'settlement', flowId, reference, status, proof: 'signature', contentHash: id } as const;
  await on.store.inbox.receive({ ...row, body });
  return id;
}

export function untilContinued(flow: WorkflowHandle, firstRunId: string): Promise<boolean> {
  return until('its next run', async () => (await flow.describe()).runId !== firstRunId);
}

/** How it ended, once it has. */
export async function endingOf(on: Stage, flow: Flow): Promise<FlowReport['view']> {
  const latest = on.client.workflow.getHandle(flow.workflowId);
  await latest.result().catch(() => undefined);
  return (await latest.query<FlowReport>('flow')).view;
}

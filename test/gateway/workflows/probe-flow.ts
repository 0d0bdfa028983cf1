import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import { defineSearchAttributeKey } from '@temporalio/common';
import type { EventFate, FlowEvent, FlowReport, PersonOrder, ResolveOrder } from '../../../src/flows/messages.js';

/*
 * A stand-in for a bridge transfer, with the same messages and no service behind it: it ends at a trusted terminal status,
 * parks (by its attribute) where its notes say so, and shows in its timeline which signals carried what.
 */
const stateAttribute = defineSearchAttributeKey('TowlineState', 'KEYWORD');

export async function bridgeTransfer(input: { metadata?: { notes?: string } }): Promise<FlowReport> {
  const { workflowId, startTime } = workflowInfo();
  const events: Record<string, EventFate> = {};
  const signals: string[] = [];
  let ending: FlowReport['view']['state'] | undefined;
  let approvedBy: string | undefined;

  const report = (): FlowReport => ({
    view: {
      kind: 'bridge-transfer',
      reference: workflowId.slice('bridge-transfer/'.length),
      flowId: workflowId,
      state: ending ?? 'running',
      stage: approvedBy === undefined ? 'probing' : `approved by ${approvedBy}`,
      serviceReference: null,
      startedAt: startTime.toISOString(),
      updatedAt: startTime.toISOString(),
      deadlineAt: null,
      parked: null,
      outcome: null,
      timeline: signals.map((detail) => ({ at: startTime.toISOString(), stage: 'signal', by: 'flow', detail })),
    },
    events,
  });

  setHandler(defineSignal<[FlowEvent[]]>('events'), (batch) => {
    signals.push(batch.map(({ status, trusted }) => `${status}${trusted ? '' : '?'}`).join(' '));
    for (const { id, status, trusted } of batch) {
      if (events[id] !== undefined) continue;
      events[id] = trusted ? 'applied' : 'unverified';
      if (trusted && status === 'COMPLETED') ending = 'completed';
      if (trusted && status === 'REFUNDED') ending = 'refunded';
      if (trusted && status === 'FAILED') ending = 'failed';
    }
  });
  setHandler(defineQuery<FlowReport>('flow'), report);
  setHandler(defineUpdate<object, [PersonOrder]>('cancel'), () => {
    ending = 'cancelled';
    return {};
  });
  setHandler(defineUpdate<object, [PersonOrder]>('approveQuote'), ({ actor }) => {
    approvedBy = actor;
    return {};
  });
  const refuse = (_order: ResolveOrder): void => {
    throw ApplicationFailure.nonRetryable('the flow is not parked', 'not_allowed');
  };
  setHandler(defineUpdate<object, [ResolveOrder]>('resolve'), async (_order: ResolveOrder) => ({}), {
    validator: refuse,
  });
  if (input.metadata?.notes === 'park') upsertSearchAttributes([{ key: stateAttribute, value: 'parked' }]);
  await condition(() => ending !== undefined);
  if (ending !== undefined) upsertSearchAttributes([{ key: stateAttribute, value: ending }]);
  if (ending === 'failed') {
    throw ApplicationFailure.create({ message: 'it failed', nonRetryable: true, details: [report()] });
  }
  return report();
}

import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { jest } from '@jest/globals';
import type { ActivityDeps } from '../../activities/index.js';
import type { OperationName } from '../../src/contract/index.js';
import type { FlowView } from '../../src/api/flow.js';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { openStack, type Stack } from '../harness/stack.js';
import cryptoSend from '../kinds/crypto-send.js';
import { RejectedError } from '../../src/service-client/index.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';

export { entriesOf, noted } from '../harness/reports.js';

/** Waits of Towline take a hundredth of their time. */
export const TIME_SCALE = 0.01;

/** A flow gives up reading its inbox within this time, ms. */
export const READING_MS = 20_000;

type Service = ActivityDeps['service'];

/** Holds what awaits `opened`, until it is opened. */
export function gate() {
  let open = () => undefined as void;
  return { opened: new Promise<void>((resolve) => (open = resolve)), open: () => open() };
}

/** A refusal that a service gives for a limit, whatever the reference. */
export function refused(operation: OperationName): RejectedError {
  const refusal = { httpStatus: 400, message: 'limit', fields: [], isRateExpired: false, isAboutReference: false };
  return new RejectedError(operation, refusal);
}

/** Starts a crypto send. */
export async function startSend(bench: Stack, word: string, more: Record<string, unknown> = {}) {
  const reference = newReference(word);
  const input = { ...cryptoSend.input(reference), cryptoAmount: '7.5', timeScale: TIME_SCALE, ...more };
  return { reference, handle: await bench.startFlow('crypto-send', reference, input) };
}

/** A bench whose service is the sandbox, except for the operations that a test replaces. */
export async function openDecisionBench(
  replaced: (service: Service) => Partial<Service>,
  more: Partial<ActivityDeps> = {},
) {
  const sandbox = await openStack({ time: 'skipping', sandbox: { stepMs: 3_600_000 } });
  const service = { ...sandbox.deps.service, ...replaced(sandbox.deps.service) };
  // Its store has the time of its own flows.
  const { store: _, ...others } = sandbox.deps;
  const bench: Stack = await openStack({ time: 'skipping', deps: { ...others, ...more, service } });
  return {
    bench,
    executions: (operation: string, reference: string) => sandbox.executions(operation, reference),
    move: sandbox.move,
    store: bench.store,
    close: async () => {
      await bench.close();
      await sandbox.close();
    },
  };
}

/** Money of one operation, which can be stopped: then each attempt waits before it has its claim, and nothing leaves. */
export function stoppable({ store: { claims } }: Pick<Stack, 'store'>, operation: OperationName) {
  const reserve = claims.reserve.bind(claims);
  const waiting = new Set<string>();
  let stopped: ReturnType<typeof gate> | undefined;
  claims.reserve = async (key, ...asks) => {
    if (key.operation === operation && stopped !== undefined) {
      waiting.add(key.reference);
      await stopped.opened;
    }
    return reserve(key, ...asks);
  };
  return {
    stop: () => void (stopped ??= gate()),
    goOn: () => {
      stopped?.open();
      stopped = undefined;
    },
    /** References of which an attempt has waited. */
    waiting,
  };
}

export const resolve = (handle: WorkflowHandle, action: string) =>
  handle.executeUpdate('resolve', { args: [{ action, note: 'looked into it', actor: 'ada' }] });

export const parked = async (handle: WorkflowHandle): Promise<FlowView> =>
  (await untilFlow(handle, ({ view }) => view.state === 'parked')).view;

export const ended = async (handle: WorkflowHandle): Promise<FlowView> =>
  (await untilFlow(handle, ({ view }) => view.outcome !== null)).view;

/** The first calls, so many, wait until they are let go. */
function held(count: number) {
  const gates = Array.from({ length: count }, gate);
  let begun = 0;
  return {
    begun: () => begun,
    wait: () => gates[begun++]?.opened,
    letGo: (which: number) => gates[which]?.open(),
  };
}

export function holdReadings({ store: { inbox } }: Pick<Stack, 'store'>, count: number) {
  const list = inbox.list.bind(inbox);
  const readings = held(count);
  jest.spyOn(inbox, 'list').mockImplementation(async (query) => {
    // It reads the trusted events first.
    if (query.trusted === true) await readings.wait();
    return list(query);
  });
  return readings;
}

export function holdVoids({ store: { claims } }: Pick<Stack, 'store'>, count: number) {
  const voidAll = claims.voidAll.bind(claims);
  const voids = held(count);
  jest.spyOn(claims, 'voidAll').mockImplementation(async (...order) => {
    await voids.wait();
    return voidAll(...order);
  });
  return voids;
}

/** An event that is in the inbox, and never reached its flow. @param options.proof null: it is not trusted */
export async function inInbox(
  bench: Pick<Stack, 'store'>,
  flowId: string,
  status: string,
  { proof = 'capability', body = {} }: { proof?: 'capability' | null; body?: Record<string, unknown> } = {},
): Promise<FlowEvent> {
  const event = trusted(status);
  await bench.store.inbox.receive({
    id: event.id,
    source: 'callback',
    flowId,
    reference: flowId.slice(flowId.indexOf('/') + 1),
    status,
    proof,
    contentHash: randomUUID(),
    body: { status, ...body },
  });
  return event;
}

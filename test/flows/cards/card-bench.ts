import type { WorkflowHandle } from '@temporalio/client';
import type { ActivityDeps } from '../../../activities/index.js';
import type { LogSink } from '../../../src/temporal/sdk-logger.js';
import { trusted } from '../../harness/inputs.js';
import { newReference } from '../../harness/references.js';
import { untilFlow } from '../../harness/reports.js';
import { type Stack, openStack } from '../../harness/stack.js';
import { startCardGateway, type CardGateway } from './card-gateway.js';

/** A bench with one gateway that keeps cards. The logs of all its processes are kept, for the canaries. */
export interface CardBench {
  readonly bench: Stack;
  readonly gateway: CardGateway;
  readonly logged: readonly unknown[];
  /** Every flow that was started. */
  readonly started: readonly WorkflowHandle[];
  anotherGateway(deps?: Partial<ActivityDeps>): Promise<CardGateway>;
  /** Starts a card deposit with a card that the gateway keeps. */
  deposit(
    word: string,
    more?: Record<string, unknown>,
    keptBy?: CardGateway,
  ): Promise<{ reference: string; handle: WorkflowHandle }>;
  close(): Promise<void>;
}

export async function openCardBench(deps: Partial<ActivityDeps> = {}): Promise<CardBench> {
  const logged: unknown[] = [];
  const started: WorkflowHandle[] = [];
  const take = (...line: unknown[]) => void logged.push(line);
  const log: LogSink = { info: take, warn: take, error: take, debug: take };
  const bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 }, deps: { log, ...deps } });
  const gateway = await startCardGateway(bench, log);
  return {
    bench,
    gateway,
    logged,
    started,
    anotherGateway: (deps) => startCardGateway(bench, log, deps),
    async deposit(word, more = {}, keptBy = gateway) {
      const reference = newReference(word);
      const input = cardDepositInput(reference, { ...keptBy.keep(), ...more });
      const handle = await bench.startFlow('card-deposit', reference, input);
      started.push(handle);
      return { reference, handle };
    },
    async close() {
      await gateway.close();
      await bench.close();
    },
  };
}

export function cardDepositInput(reference: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    referenceId: reference,
    fullName: 'Thandi Payer',
    phoneNumber: '+27821234567',
    currency: 'ZAR',
    amount: '1250.50',
    country: 'ZAF',
    ...more,
  };
}

export const tracked = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.stage === 'tracking');
export const parked = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.state === 'parked');
export const ended = (handle: WorkflowHandle) => untilFlow(handle, ({ view }) => view.outcome !== null);

/** A trusted event with the facts of `cardDepositInput`. */
export const say = (handle: WorkflowHandle, status: string, more = {}) =>
  handle.signal('events', [trusted(status, { facts: { amount: '1250.50', currency: 'ZAR' }, ...more })]);

export const order = (handle: WorkflowHandle, action: string) =>
  handle.executeUpdate('resolve', { args: [{ action, note: 'asked the service', actor: 'ada' }] });

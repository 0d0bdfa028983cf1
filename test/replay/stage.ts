import type { Client, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { ServiceClient } from '../../src/service-client/index.js';
import type { ClaimStore } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { flowIdOf, TASK_QUEUE, workflowTypeOf, type FlowKind } from '../../src/protocol/vocabulary.js';
import { CardGiven } from '../../src/gateway/cards/take-card.js';
import { createCardVault, type CardVault } from '../../src/gateway/cards/card-intake.js';
import { startCardWorker } from '../../src/temporal/worker.js';
import { exampleInput, transferInput } from '../harness/inputs.js';
import { openStack } from '../harness/stack.js';
import { RECORDING_KEYS, RECORDING_NAMESPACE } from './recording-key.js';

/** What scenes are played on: the real dev server, sandbox and store, and a worker with the bundle of these sources. */
export interface Stage {
  readonly client: Client;
  readonly store: Store;
  readonly service: ServiceClient;
  /** A bridge transfer. */
  start(reference: string, more?: Record<string, unknown>): Promise<WorkflowHandleWithFirstExecutionRunId>;
  /** A flow of any kind, from its example; a card is kept by this stage. */
  startKind(
    kind: FlowKind,
    reference: string,
    more?: Record<string, unknown>,
  ): Promise<WorkflowHandleWithFirstExecutionRunId>;
  /** `POST /_sandbox/…` */
  sandbox(path: string, body: unknown): Promise<unknown>;
  /** Moves the sandbox's record under this reference by hand, as soon as it can be moved. */
  move(reference: string, status: string, operation?: string): Promise<void>;
  close(): Promise<void>;
}

/** Replaces this machine's name, which Temporal would write, in every recorded event. */
const IDENTITY = 'recorder';
const SERVICE_TIMEOUT_MS = 2_000;
const silent = { info() {}, warn() {}, error() {}, debug() {} };

export async function openStage(address: string): Promise<Stage> {
  const stack = await openStack({
    temporalAddress: address,
    keyring: RECORDING_KEYS,
    taskQueue: TASK_QUEUE,
    identity: IDENTITY,
    timeoutMs: SERVICE_TIMEOUT_MS,
    sandbox: { token: 'recorded' },
    deps: { account: 'recorded' },
    wrapStore: (store) => ({ ...store, claims: forgetful(store.claims) }),
  });
  const { client, store, service, dataConverter, deps } = stack;
  const cards = createCardVault({ nowMs: Date.now });
  const cardWorker = await startCardWorker({
    variables: { TEMPORAL_ADDRESS: address },
    namespace: RECORDING_NAMESPACE,
    dataConverter,
    identity: IDENTITY,
    log: silent,
    activities: deps,
    cards,
  });

  const start = (kind: FlowKind, reference: string, input: unknown) =>
    client.workflow.start(workflowTypeOf(kind), {
      taskQueue: TASK_QUEUE,
      workflowId: flowIdOf(kind, reference),
      args: [input],
    });
  return {
    client,
    store,
    service,
    move: stack.move,
    async startKind(kind, reference, more = {}) {
      const { card, ...example } = await exampleInput(kind, reference);
      const kept = card === undefined ? {} : keptCard(cards, card);
      return start(kind, reference, { ...example, ...kept, ...more });
    },
    start: (reference, more = {}) => start('bridge-transfer', reference, transferInput(reference, more)),
    sandbox: (path, body) => stack.control('POST', path, body),
    async close() {
      await cardWorker.shutdown();
      await stack.close();
    },
  };
}

/** What an input has in the place of a card. */
function keptCard(cards: CardVault, card: unknown) {
  const { cardToken, masked } = cards.keep(CardGiven.parse(card), 'shop');
  return { cardToken, masked };
}

/** A store that fails to write the first answer of references that begin with `forgetful`: the flow writes it later. */
function forgetful(claims: ClaimStore): ClaimStore {
  const failed = new Set<string>();
  const once = (reference: string) => {
    if (!reference.startsWith('forgetful') || failed.has(reference)) return;
    failed.add(reference);
    throw new Error('the disk is full');
  };
  return new Proxy(claims, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      if (name !== 'recordAnswer' && name !== 'recordRejection') return member.bind(target);
      return async (...args: [{ reference: string }]) => {
        once(args[0].reference);
        return member.apply(target, args);
      };
    },
  });
}

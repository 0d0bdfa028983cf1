import type { Client, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { LiveOperation } from '../../src/protocol/live-operations.js';
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
  /** From now on each such call of the workers about the claim of this reference is made by `what`. */
  around(call: ClaimCall, reference: string, what: Around): void;
  close(): Promise<void>;
}

/** Replaces this machine's name, which Temporal would write, in every recorded event. */
const IDENTITY = 'recorder';
const SERVICE_TIMEOUT_MS = 2_000;
const silent = { info() {}, warn() {}, error() {}, debug() {} };

/** @param live what only the live service has, and the flows may use */
export async function openStage(address: string, live: readonly LiveOperation[] = []): Promise<Stage> {
  const around = new Map<string, Around>();
  const watched = watchedClaims(around);
  const stack = await openStack({
    temporalAddress: address,
    keyring: RECORDING_KEYS,
    taskQueue: TASK_QUEUE,
    identity: IDENTITY,
    timeoutMs: SERVICE_TIMEOUT_MS,
    sandbox: { token: 'recorded' },
    deps: { account: 'recorded', live },
    wrapStore: (store) => ({ ...store, claims: watched(store.claims) }),
  });
  const { client, store, service, dataConverter, deps } = stack;
  if (live.length > 0) await stack.control('POST', '/settings', { liveOperations: true });
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
    around: (call, reference, what) => void around.set(`${call} ${reference}`, what),
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

/** Methods of the claims that a scene may stand around. */
type ClaimCall = 'recordAnswer' | 'recordRejection' | 'voidAll' | 'closeByOrder' | 'closeNotExecuted';

/** Runs in place of a call of the workers' store; `call` makes it. */
export type Around = (call: () => Promise<unknown>) => Promise<unknown>;

/** The claims as the workers see them: around the calls about a reference is what its scene says. */
function watchedClaims(around: ReadonlyMap<string, Around>) {
  return (claims: ClaimStore): ClaimStore =>
    new Proxy(claims, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          const call = async (): Promise<unknown> => member.apply(target, args);
          return around.get(`${String(name)} ${referenceIn(args[0])}`)?.(call) ?? call();
        };
      },
    });
}

/** A call is about one claim, or about all of a flow. */
function referenceIn(about: unknown): string | undefined {
  const one = (Array.isArray(about) ? about[0]?.key : about) as { readonly reference?: string } | undefined;
  return one?.reference;
}

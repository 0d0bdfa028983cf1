import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { z } from 'zod';
import {
  type CallbackHandles,
  type CallbackFacts,
  type KeepListed,
  type ListedCallbacks,
  MOST_KEPT_PAGES,
} from '../../temporal/callback-handle.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import type { Asker } from '../../temporal/questions.js';
import { parseFlowId } from '../../protocol/vocabulary.js';
import {
  type CallbackJson,
  CallbackListJson,
  CallbackListQuery,
  CallbackSecretsJson,
  CallbacksJson,
  type DeliveredJson,
  type ListedCallbacksJson,
} from '../../api/callbacks.js';
import { FlowParams } from '../../api/flow.js';
import { NAME, NAME_RULE } from '../../api/operations.js';
import type { Store } from '../../store/store.js';
import { OF_NO_NAME, secretsOfName } from '../../callbacks/index.js';
import type { Readings } from '../flows/readings.js';
import { asOrder, type Caller, whoIs } from '../http/bearer-token.js';
import { addressOf, type FlowAddress } from '../http/flow-path.js';
import { mayOrder } from '../http/may-order.js';
import type { Owners } from '../http/owners.js';
import type { TakePages } from '../flows/charged-pages.js';
import { Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import { addRoute } from '../http/route.js';
import { remembered } from './remembered.js';
import type { CallbackFailure, Notification } from '../../protocol/callbacks.js';

export interface CallbackRoutesDeps {
  readonly store: Pick<Store, 'audit'>;
  readonly owners: Owners;
  readonly callbacks: CallbackHandles;
  /** What the secrets of all names are derived from. */
  readonly secrets: () => readonly string[];
  readonly readings: Readings;
  readonly reader: Pick<FlowReader, 'facts'>;
  readonly logger: Logger;
  readonly monotonicMs: () => number;
  /** Of Temporal's lists. */
  readonly takePage: TakePages;
}

/** Each search for them costs Temporal up to 200 descriptions. */
const CIRCUITS_KNOWN_FOR_MS = 5_000;

const SecretQuery = z.strictObject({
  name: z
    .union([z.literal(OF_NO_NAME), z.string().regex(NAME, NAME_RULE)])
    .optional()
    .meta({ description: "@default the token's" }),
});
/** Callbacks to callers, for people: how far they got, those that could not be delivered, and the order to send again. */
export function addCallbackRoutes(server: FastifyInstance, deps: CallbackRoutesDeps): void {
  const { callbacks, reader, store, owners, logger } = deps;
  const openCircuits = remembered(deps.monotonicMs, () => callbacks.openCircuits(), CIRCUITS_KNOWN_FOR_MS);

  /** Temporal lists those of every name: each page of them is charged. */
  const ownCallbacks = async (caller: Caller, state: 'undelivered' | 'open', limit: number) => {
    const giveBack = deps.takePage(caller.name, MOST_KEPT_PAGES);
    let pages = 0;
    const keep: KeepListed = (page) => {
      pages += 1;
      return owners.theirs(caller, 'view', page);
    };
    try {
      return await callbacks.list(state, limit, keep);
    } finally {
      giveBack(MOST_KEPT_PAGES - Math.max(1, pages));
    }
  };

  const shown = async (address: FlowAddress, asker: Asker) => {
    const facts = await callbacks.facts(address.flowId, asker);
    if (facts === undefined && (await reader.facts(address.flowId)) === undefined) {
      throw new Refusal(404, `There is no flow ${address.flowId}.`, { reference: address.reference });
    }
    return callbacksJson(address, facts);
  };

  addRoute(server, {
    method: 'GET',
    path: '/callbacks',
    operationId: 'listCallbacks',
    tag: 'callbacks',
    summary:
      'Lists flows whose callbacks could not be delivered, or are being delivered, and receivers that do not answer.',
    permission: 'view',
    query: CallbackListQuery,
    answers: { 200: { says: 'Flows, newest first.', schema: { CallbackList: CallbackListJson } } },
    handler: async ({ caller, query: { state, limit } }) => {
      // The receivers without an answer are those of all callers.
      const isForAll = owners.isForAll(caller, 'view');
      if (!isForAll) return { callbacks: (await ownCallbacks(caller, state, limit)).map(listedJson), openCircuits: [] };
      deps.takePage(caller.name);
      const [listed, circuits] = await Promise.all([callbacks.list(state, limit), openCircuits()]);
      return { callbacks: listed.map(listedJson), openCircuits: circuits };
    },
  });
  addRoute(server, {
    method: 'GET',
    path: '/callbacks/secret',
    operationId: 'showCallbackSecret',
    tag: 'callbacks',
    summary: 'Shows what signs the callbacks about the flows of a name.',
    permission: 'callback-secret',
    query: SecretQuery,
    answers: {
      200: { says: 'The secrets, of which the first signs.', schema: { CallbackSecrets: CallbackSecretsJson } },
    },
    handler: async ({ caller, query: { name = caller.name } }) => {
      const verdict = mayOrder({ caller, permission: 'callback-secret', flow: { owner: name } });
      if (verdict !== 'yes') throw new Refusal(404, 'This is not the name of your token.');
      const secrets = secretsOfName(name, deps.secrets());
      if (secrets.length === 0) throw new Refusal(503, 'Give this gateway CALLBACK_SECRETS, as its workers have it.');
      await deps.readings.record(caller, { kind: 'read-secret', subject: name });
      return { name, secrets };
    },
  });
  addRoute(server, {
    method: 'GET',
    params: FlowParams,
    path: '/flows/:kind/:reference/callbacks',
    operationId: 'showCallbacks',
    tag: 'callbacks',
    summary: 'Shows how far the callbacks of a flow got.',
    permission: 'view',
    answers: { 200: { says: 'The callbacks.', schema: { Callbacks: CallbacksJson } } },
    handler: ({ caller, params }) => shown(addressOf(params), caller),
  });
  addRoute(server, {
    method: 'POST',
    params: FlowParams,
    path: '/flows/:kind/:reference/callbacks/resend',
    operationId: 'resendCallback',
    tag: 'callbacks',
    summary: 'Sends the newest change again.',
    permission: 'resend-callback',
    answers: { 200: { says: 'The callbacks.', schema: { Callbacks: CallbacksJson } } },
    handler: async ({ params, caller }) => {
      const address = addressOf(params);
      const { flowId, reference } = address;
      const actor = caller.name;
      const nothingSent = `Nothing was sent for ${flowId}: it has no callbackUrl, or has not changed yet.`;
      // There is any number of flows that never were: no entry.
      if ((await callbacks.facts(flowId, asOrder(caller))) === undefined) {
        throw new Refusal(404, nothingSent, { reference });
      }
      await store.audit.append({ ...whoIs(caller), kind: 'resend-callback', flowId });
      const outcome = await callbacks.resend(flowId, actor);
      if (outcome === 'not-found') throw new Refusal(404, nothingSent, { reference });
      if (outcome === 'no-answer')
        throw new Refusal(
          503,
          'No worker answers. Send it again later.',
          { reference, code: 'no_worker' },
          RETRY_AFTER_SECONDS,
        );
      logger.info({ flowId, actor }, 'a person sent a callback again');
      return shown(address, asOrder(caller));
    },
  });
}

function callbacksJson({ kind, reference, flowId }: FlowAddress, facts: CallbackFacts | undefined): CallbacksJson {
  const state = facts === undefined ? 'none' : 'unknown';
  const nothing = { current: null, since: null, attempts: 0, lastFailure: null, nextAttemptAt: null, delivered: null };
  if (facts?.report === undefined) return { kind, reference, flowId, state, to: null, ...nothing };
  const { report, attempts, lastFailure, nextAttemptAt } = facts;
  const { current, delivered } = report;
  const failure = report.failure ?? lastFailure;
  return {
    kind,
    reference,
    flowId,
    state: report.state,
    to: originOf(report.order.url),
    current: current === null ? null : shown(current),
    since: report.since,
    attempts: report.failure?.attempt ?? attempts,
    lastFailure: failure === undefined ? null : shownFailure(failure),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    delivered: delivered === null ? null : { ...shown(delivered.notification), ...deliveredAs(delivered) },
  };
}

function listedJson({ flowId, startedAt }: ListedCallbacks): ListedCallbacksJson {
  const { kind, reference } = parseFlowId(flowId) ?? { kind: null, reference: flowId };
  return { kind, reference, flowId, startedAt: startedAt.toISOString() };
}

const shown = ({ id, change, skipped }: Notification): CallbackJson => ({
  id,
  timestamp: change.timestamp,
  flowState: change.state,
  stage: change.stage,
  skipped: skipped.length,
});

const shownFailure = ({ problem, httpStatus, at, circuit }: CallbackFailure) => ({ problem, httpStatus, at, circuit });

const deliveredAs = ({ at, httpStatus, attempts }: DeliveredJson): DeliveredJson => ({ at, httpStatus, attempts });

const originOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null);

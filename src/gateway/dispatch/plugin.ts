import type { Client } from '@temporalio/client';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Logger } from 'pino';
import { createDuty } from '../../store/duties.js';
import type { Store } from '../../store/store.js';
import type { CallbackHandles } from '../../temporal/callback-handle.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import { signalFlow } from '../../temporal/start-flow.js';
import { createWebhookMatch } from '../inbound/match-webhook.js';
import { createDispatcher, type Dispatcher } from './dispatcher.js';
import { createDrain } from './drain.js';
import { createIntake } from './intake.js';
import { createOpenSignals } from './open-signals.js';
import { createSettler, type Settler } from './settler.js';
import type { UnreadableFlows } from './unreadable-flows.js';
import { createWebhookMatcher } from './webhook-matcher.js';

declare module 'fastify' {
  interface FastifyInstance {
    dispatcher: Pick<Dispatcher, 'nudge'>;
    settler: Pick<Settler, 'checkSoon'>;
    /** Takes an event into the inbox. */
    receive: ReturnType<typeof createIntake>;
  }
}

/** How often dispatcher and settler check by themselves, and the age at which a row is queried. */
export interface Pace {
  readonly dispatchEveryMs?: number;
  readonly settleEveryMs?: number;
  readonly settleAgeMs?: number;
}

export interface DispatchDeps {
  readonly store: Pick<Store, 'audit' | 'inbox' | 'matters' | 'claims' | 'duties'>;
  readonly client: Client;
  readonly reader: FlowReader;
  readonly callbacks: Pick<CallbackHandles, 'contradict'>;
  readonly unreadable: UnreadableFlows;
  readonly metrics: { readonly dispatched: (lagSeconds: readonly number[]) => void };
  readonly pace: Pace;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

/** How long the flows' events stay unsettled after the settling gateway died, plus a third of that. */
const SETTLING_DUTY_MS = 6_000;

/** Takes events in, and delivers them to their flows for as long as the gateway runs. */
export const dispatch = fp(async (server: FastifyInstance, deps: DispatchDeps) => {
  const { store, client, callbacks, pace } = deps;
  const { inbox, matters } = store;
  const tellCaller = async (flowId: string) => {
    const told = await callbacks.contradict(flowId);
    if (told === 'no-answer') throw new Error('no worker says whether the flow has callbacks');
  };
  const shared = { ...deps, inbox, matters, tellCaller, drain: createDrain(client), openSignals: createOpenSignals() };
  const dispatcher = createDispatcher({
    ...shared,
    signal: (flowId, events) => signalFlow(client, flowId, events),
    dispatched: deps.metrics.dispatched,
    everyMs: pace.dispatchEveryMs,
  });
  const matchOf = createWebhookMatch(store);
  const matcher = createWebhookMatcher({ ...shared, matchOf, dispatcher, everyMs: pace.dispatchEveryMs });
  const duty = createDuty(store.duties, 'settling', SETTLING_DUTY_MS, deps.monotonicMs);
  const settler = createSettler({ ...shared, duty, everyMs: pace.settleEveryMs, ageMs: pace.settleAgeMs });
  server.decorate('dispatcher', dispatcher);
  server.decorate('settler', settler);
  server.decorate('receive', createIntake({ inbox, dispatcher, matcher }));

  const loops = [dispatcher, matcher, settler];
  server.addHook('onReady', async () => loops.forEach((loop) => loop.start()));
  server.addHook('onClose', async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await duty.leave();
  });
});

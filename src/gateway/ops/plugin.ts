import type { FastifyInstance } from 'fastify';
import { callbackSecrets } from '../../callbacks/index.js';
import type { LiveSecrets } from '../../config/live-secrets.js';
import { createDuty } from '../../store/duties.js';
import type { CallbackHandles } from '../../temporal/callback-handle.js';
import type { FlowOperationDeps } from '../flows/deps.js';
import { addAuditRoute } from './audit.js';
import { addCallbackRoutes } from './callbacks.js';
import { addCloseClaimsRoute } from './close-claims.js';
import { addEraseRoute } from './erasure.js';
import { addEventRoutes, type EventRoutesDeps } from './events.js';
import { addMetricsRoute, type Metrics } from './metrics.js';
import { addGiveRoute } from './ownership.js';
import { remembered } from './remembered.js';
import { addReplayRoutes } from './replay.js';
import { createRetention, RETENTION_DUTY_MS } from './retention.js';
import { addWhoAmIRoute } from './whoami.js';

export interface OpsDeps extends FlowOperationDeps, Pick<EventRoutesDeps, 'dispatcher'> {
  readonly callbacks: CallbackHandles;
  readonly secrets: Pick<LiveSecrets, 'callbackSecrets'>;
  readonly metrics: Metrics;
  /** For tests: the shortest interval between two prints of metrics. */
  readonly pace: { readonly countEveryMs?: number };
}

/** For those who run the gateway, and the loop that clears what is older than the settings say. */
export async function ops(server: FastifyInstance, deps: OpsDeps): Promise<void> {
  const { settings, store, secrets, metrics, monotonicMs } = deps;
  addEraseRoute(server, deps);
  addCloseClaimsRoute(server, deps);
  addGiveRoute(server, deps);
  addEventRoutes(server, deps);
  addReplayRoutes(server, deps);
  const ofCallbacks = () => callbackSecrets({ ...settings, callbackSecrets: secrets.callbackSecrets() }, store);
  addCallbackRoutes(server, { ...deps, secrets: ofCallbacks });
  addAuditRoute(server, deps);
  addWhoAmIRoute(server);
  addMetricsRoute(server, { print: remembered(monotonicMs, () => metrics.print(), deps.pace.countEveryMs) });

  const { inbox, claims, matters } = store;
  const duty = createDuty(store.duties, 'clearing', RETENTION_DUTY_MS, monotonicMs);
  const retention = createRetention({ ...deps, inbox, claims, matters, keptMs: settings, duty });
  server.addHook('onReady', async () => retention.start());
  server.addHook('onClose', async () => {
    await retention.stop();
    await duty.leave();
  });
}

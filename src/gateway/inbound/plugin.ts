import type { FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import type { LiveSecrets } from '../../config/live-secrets.js';
import type { Store } from '../../store/store.js';
import type { KnownNetworks } from '../http/known-networks.js';
import type { RateLimit } from '../http/rate-limit.js';
import type { UnprovenQuota } from '../ops/unproven-quota.js';
import { createAdmission } from './admission.js';
import { followWebhookSecrets } from './live-secrets.js';
import { addInboundRoutes, type InboundDeps } from './routes.js';
import { createProfiles } from './signatures.js';

export interface InboundRoomDeps extends Pick<InboundDeps, 'settings' | 'capabilities' | 'receive' | 'logger'> {
  readonly store: Pick<Store, 'macs' | 'deployment'>;
  readonly secrets: Pick<LiveSecrets, 'webhookSecrets' | 'settlementSecrets'>;
  readonly metrics: Required<Pick<InboundDeps, 'acknowledged'>>;
  readonly knownNetworks: KnownNetworks;
  /** The rate of clients without a proof. */
  readonly ofUnknown: RateLimit;
  readonly quota: UnprovenQuota;
  readonly newEventId?: (() => string) | undefined;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
}

/** Webhooks and callbacks: who sent them, how much may come, and the disk space of what nothing proves. */
export async function inbound(server: FastifyInstance, deps: InboundRoomDeps): Promise<void> {
  const { settings, secrets, store, quota, nowMs, monotonicMs, newEventId = () => `evt_${uuidv7()}` } = deps;
  const webhook = followWebhookSecrets({ ...deps, fromSetting: secrets.webhookSecrets, deployment: store.deployment });
  const inForce = { webhook: webhook.inForce, settlement: secrets.settlementSecrets };
  addInboundRoutes(server, {
    ...deps,
    newEventId,
    refreshSecrets: webhook.refresh,
    profiles: createProfiles(settings, inForce, nowMs),
    acknowledged: deps.metrics.acknowledged,
    admission: createAdmission(deps.ofUnknown, monotonicMs, deps.knownNetworks),
  });
  server.addHook('onReady', async () => {
    await webhook.refresh();
    quota.start();
  });
  server.addHook('onClose', () => quota.stop());
}

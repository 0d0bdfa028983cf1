import type { Client } from '@temporalio/client';
import type { LiveSecrets, Settings } from '../../config/index.js';
import { resolvedView } from '../../gateway/flows/terminated-view.js';
import { answers } from '../../gateway/ops/health.js';
import { createNotifier, NOTIFY_DUTY_MS, type Notifier, type NotifyDeps, type Places } from '../../notify/index.js';
import { isContradiction } from '../../protocol/matters.js';
import { createDuty } from '../../store/duties.js';
import type { DueMatter } from '../../store/matters.js';
import type { Store } from '../../store/store.js';
import { createCallbackHandles } from '../../temporal/callback-handle.js';
import { createFlowReader } from '../../temporal/flow-handle.js';
import { TOWLINE } from '../../temporal/questions.js';
import { uiUrlOf } from './temporal.js';

/**
 * For gateways and workers alike: the one that holds the lease sends notifications, so that people are notified while
 * the others are down.
 */
export function openNotifier(parts: {
  readonly settings: Settings;
  readonly store: Store;
  readonly client: Client;
  readonly namespace: string;
  readonly secrets: Pick<LiveSecrets, 'notifyTargets' | 'notifySecrets' | 'heartbeatUrl'>;
  readonly log: NotifyDeps['log'];
}): Notifier | undefined {
  const { settings, store, client, namespace, secrets, log } = parts;
  const { notifyEscalateAfterMs: escalateAfterMs } = settings;
  // What is not set has no file that could change.
  if (settings.notifyTargets.length === 0 && settings.heartbeatUrl === undefined) return undefined;
  return createNotifier({
    matters: store.matters,
    duty: createDuty(store.duties, 'notifying', NOTIFY_DUTY_MS, () => performance.now()),
    targets: () => secrets.notifyTargets(),
    secrets: () => secrets.notifySecrets(),
    escalateAfterMs,
    places: placesOf(settings, namespace),
    isStillOpen: stillOpenAt(client, store),
    askTemporal: () => answers(client),
    heartbeatUrl: () => secrets.heartbeatUrl(),
    log,
  });
}

export function placesOf(settings: Pick<Settings, 'gatewayUrl' | 'docsUrl' | 'temporal'>, namespace: string): Places {
  const uiUrl = uiUrlOf(settings);
  const { gatewayUrl, docsUrl } = settings;
  return { gatewayUrl, docsUrl, namespace, ...(uiUrl === undefined ? {} : { uiUrl }) };
}

/**
 * If Temporal or a worker does not answer, the flow may still be parked: one notification too many is the safe error.
 */
export function stillOpenAt(client: Client, store: Store): (matter: DueMatter) => Promise<boolean> {
  const reader = createFlowReader(client);
  const callbacks = createCallbackHandles(client);
  return async ({ content }) => {
    const { kind, flowId, since } = content;
    if (flowId === undefined || isContradiction(content)) return true;
    try {
      if (kind === 'callback_undelivered') {
        const facts = await callbacks.facts(flowId, TOWLINE);
        return facts !== undefined && (facts.report?.state ?? 'undelivered') === 'undelivered';
      }
      const shown = await reader.show(flowId, TOWLINE);
      const view = shown && (await resolvedView(shown, store));
      if (view === undefined || view.state !== 'parked') return false;
      // Terminated, or no worker answered: a person is needed.
      return view.parked === null || view.parked.since === since || view.parked.reason === 'terminated';
    } catch {
      return true;
    }
  };
}

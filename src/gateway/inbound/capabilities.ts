import type { Settings } from '../../config/settings-shape.js';
import { callbackCapability } from '../../flows/capability.js';
import type { Store } from '../../store/store.js';
import { equalSecrets } from '../http/bearer-token.js';

const LENGTH = 43;

/** The unguessable parts of URLs. All but the configured one are derived from the store's key and stored nowhere. */
export interface Capabilities {
  isCallback(flowId: string, given: string): boolean;
  isSettlement(given: string): boolean;
  isWebhook(given: string): boolean;
  /** Undefined where there is none: then `/settlements/…` is an unknown path. */
  readonly settlement: string | undefined;
  readonly webhook: string;
}

type Account = Pick<Settings, 'serviceAccount' | 'settlementCapability' | 'development'>;

export function createCapabilities(store: Pick<Store, 'mac'>, settings: Account): Capabilities {
  const derived = settings.development ? store.mac('settlement', settings.serviceAccount).slice(0, LENGTH) : undefined;
  const settlement = settings.settlementCapability ?? derived;
  const webhook = store.mac('webhook', settings.serviceAccount).slice(0, LENGTH);
  const ofFlow = remembering((flowId) => callbackCapability(store, flowId));
  return {
    settlement,
    webhook,
    isCallback: (flowId, given) => equalSecrets(given, ofFlow(flowId)),
    isSettlement: (given) => settlement !== undefined && equalSecrets(given, settlement),
    isWebhook: (given) => equalSecrets(given, webhook),
  };
}

/** A flow receives several callbacks, and to derive is dearer than to remember. */
const MOST_REMEMBERED = 5_000;

function remembering(derive: (flowId: string) => string): (flowId: string) => string {
  const known = new Map<string, string>();
  return (flowId) => {
    const before = known.get(flowId);
    if (before !== undefined) return before;
    if (known.size >= MOST_REMEMBERED) known.clear();
    const derived = derive(flowId);
    known.set(flowId, derived);
    return derived;
  };
}

/** What to hand to the settlement provider and to the service. */
export function inboundUrls(publicUrl: string, capabilities: Capabilities): { settlement?: string; webhook: string } {
  return {
    ...(capabilities.settlement === undefined
      ? {}
      : { settlement: `${publicUrl}/settlements/${capabilities.settlement}` }),
    webhook: `${publicUrl}/webhooks/${capabilities.webhook}`,
  };
}

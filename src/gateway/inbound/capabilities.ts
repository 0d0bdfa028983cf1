import type { Live } from '../../config/secret-files.js';
import type { Settings } from '../../config/settings-shape.js';
import { capabilitiesOf } from '../../flows/capability.js';
import type { Store } from '../../store/store.js';
import { equalSecrets } from '../http/bearer-token.js';

/**
 * The unguessable parts of URLs. All except the configured one are derived from the store's keys and stored nowhere:
 * new ones use the newest key and the first epoch; those of earlier keys and of the other epochs are accepted.
 */
export interface Capabilities {
  isCallback(flowId: string, given: string): boolean;
  isSettlement(given: string): boolean;
  isWebhook(given: string): boolean;
  /** Called before a refusal: true if one was replaced since, so that it has to be checked again. */
  refresh(): Promise<boolean>;
  /** At the start. Undefined if there is none: then `/settlements/…` is an unknown path. */
  readonly settlement: string | undefined;
  readonly webhook: string;
}

type Account = Pick<Settings, 'serviceAccount' | 'settlementCapability' | 'development' | 'capabilityEpochs'>;

/** @param given `SETTLEMENT_CAPABILITY`. @default as it is in the settings */
export function createCapabilities(
  store: Pick<Store, 'macsInEpoch' | 'refreshKeys'>,
  settings: Account,
  given: Live<string | undefined> = () => settings.settlementCapability,
): Capabilities {
  const { serviceAccount: account, capabilityEpochs: epochs } = settings;
  const ofAccount = (purpose: 'settlement' | 'webhook') => capabilitiesOf(store, purpose, account, epochs);
  const settlements = () => {
    const configured = given();
    if (configured !== undefined) return [configured];
    return settings.development ? ofAccount('settlement') : [];
  };
  const isAmong = (given: string, known: readonly string[]) => known.some((one) => equalSecrets(given, one));
  return {
    settlement: settlements()[0],
    webhook: ofAccount('webhook')[0] ?? '',
    isCallback: (flowId, given) => isAmong(given, capabilitiesOf(store, 'callback', flowId, epochs)),
    isSettlement: (given) => isAmong(given, settlements()),
    isWebhook: (given) => isAmong(given, ofAccount('webhook')),
    async refresh() {
      const before = given();
      return given('now') !== before || store.refreshKeys();
    },
  };
}

/** The URLs for the settlement provider and for the service. */
export function inboundUrls(publicUrl: string, capabilities: Capabilities): { settlement?: string; webhook: string } {
  return {
    ...(capabilities.settlement === undefined
      ? {}
      : { settlement: `${publicUrl}/settlements/${capabilities.settlement}` }),
    webhook: `${publicUrl}/webhooks/${capabilities.webhook}`,
  };
}

import type { Settings } from '../../config/index.js';
import { type Finding, good, note } from './finding.js';

type TrustSettings = Pick<
  Settings,
  'settlementTrust' | 'settlementSecrets' | 'settlementNetworks' | 'settlementCapability' | 'development'
>;

const HOW_TO_FIND_OUT =
  'How to find out: ask the settlement provider whether it signs (Standard Webhooks: exchange a secret and set ' +
  'SETTLEMENT_SECRETS); if not, give it the URL with the capability (towline doctor --show-secrets), or set its ' +
  'SETTLEMENT_NETWORKS.';

/** SETTLEMENT_TRUST: what counts as proof that a settlement comes from the provider. Anybody can post one. */
export function explainSettlements(settings: TrustSettings): readonly Finding[] {
  const { settlementTrust: trust } = settings;
  const proofs = [
    settings.settlementSecrets.length > 0 ? 'a signature with one of SETTLEMENT_SECRETS' : undefined,
    settings.settlementNetworks !== undefined && trust !== 'signed' ? 'a source in SETTLEMENT_NETWORKS' : undefined,
    hasCapability(settings) && trust === 'corroborated' ? 'the URL with the capability' : undefined,
    trust === 'corroborated' ? "a matching event on a flow's own callback URL" : undefined,
    'a person',
  ].filter((proof) => proof !== undefined);
  const says = `${trust}: a settlement is believed by ${proofs.join(', or ')}; any other is kept as unverified and moves nothing`;
  const ofProvider = settings.settlementSecrets.length > 0 || settings.settlementNetworks !== undefined;
  return ofProvider || hasCapability(settings)
    ? [good('SETTLEMENT_TRUST', says)]
    : [note('SETTLEMENT_TRUST', `${says}. Nothing of the provider is known yet. ${HOW_TO_FIND_OUT}`)];
}

/** In development one is derived from the store's key. */
function hasCapability({ settlementCapability, development }: TrustSettings): boolean {
  return settlementCapability !== undefined || development;
}

import type { Settings } from '../../config/index.js';
import type { Store } from '../../store/store.js';
import { gatewayUrl } from '../wiring/gateway-url.js';
import { callbackSecrets } from '../../callbacks/index.js';
import { type Finding, good, note } from './finding.js';

const WITHIN_MS = 5_000;

/** Whether the gateway of these settings runs on this machine. A missing one is no fault: it may run elsewhere. */
export async function checkGateway(settings: Settings): Promise<readonly Finding[]> {
  const url = gatewayUrl(settings);
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(WITHIN_MS) }).catch(() => undefined);
  if (answer === undefined) return [note('gateway', 'unreachable', `none runs at ${url} (towline gateway).`)];
  if (answer.ok) return [good('gateway', `${url} is ready`)];
  return [note('gateway', 'not-ready', `${url} answers ${answer.status} to /readyz: its store or Temporal is away.`)];
}

/** Whether callbacks to callers can be signed, and with what. */
export function checkCallbacks(
  settings: Pick<Settings, 'callbackSecrets' | 'development'>,
  store: Pick<Store, 'macs'> | undefined,
): readonly Finding[] {
  const secrets = store === undefined ? settings.callbackSecrets : callbackSecrets(settings, store);
  if (secrets.length === 0 && !settings.development) {
    return [
      note(
        'CALLBACK_SECRETS',
        'not-set',
        'not set here: unless workers have it, flows with a callbackUrl run, and their callers get no callbacks.',
      ),
    ];
  }
  const whose = settings.callbackSecrets.length === 0 ? 'of development, derived from the store' : 'set';
  return [good('CALLBACK_SECRETS', `${whose}; what signs those to a name: towline callbacks secret NAME`)];
}

type ProxySettings = Pick<Settings, 'trustedProxies' | 'publicUrl' | 'development'>;

/** TRUSTED_PROXIES: the proxy that ends TLS in front of the gateway hides the address of a request's sender. */
export function explainProxies(settings: ProxySettings): readonly Finding[] {
  const { trustedProxies } = settings;
  if (trustedProxies !== undefined) {
    return [good('TRUSTED_PROXIES', `${trustedProxies.cidrs.join(', ')}: their X-Forwarded-For is believed`)];
  }
  // The gateway itself speaks no TLS.
  if (settings.development || new URL(settings.publicUrl).protocol !== 'https:') return [];
  return [
    note(
      'TRUSTED_PROXIES',
      'not-set',
      'none, though PUBLIC_URL is https, which something in front of the gateway must end. If that hides the ' +
        'addresses of senders, all senders of unproven events, and all who guess tokens, share one limit: set ' +
        'TRUSTED_PROXIES to its address, as the gateway sees it.',
    ),
  ];
}

type TrustSettings = Pick<
  Settings,
  'settlementTrust' | 'settlementSecrets' | 'settlementNetworks' | 'settlementCapability' | 'development'
>;

const HOW_TO_FIND_OUT =
  'How to find out: ask the settlement provider whether it signs (Standard Webhooks: exchange a secret and set ' +
  'SETTLEMENT_SECRETS); if not, give it the URL with the capability (towline doctor --show-secrets), or set its ' +
  'SETTLEMENT_NETWORKS.';

/** SETTLEMENT_TRUST: what proves that a settlement comes from the provider. Anyone can post one. */
export function explainSettlements(settings: TrustSettings): readonly Finding[] {
  const { settlementTrust: trust } = settings;
  const proofs = [
    settings.settlementSecrets.length > 0 ? 'a signature with one of SETTLEMENT_SECRETS' : undefined,
    settings.settlementNetworks !== undefined && trust !== 'signed' ? 'a source in SETTLEMENT_NETWORKS' : undefined,
    hasCapability(settings) && trust === 'corroborated' ? 'the URL with the capability' : undefined,
    trust === 'corroborated' ? "a matching event on a flow's own callback URL" : undefined,
    'a person',
  ].filter((proof) => proof !== undefined);
  const sentence = `${trust}: a settlement is believed by ${proofs.join(', or ')}; any other is kept as unverified and moves nothing`;
  const ofProvider = settings.settlementSecrets.length > 0 || settings.settlementNetworks !== undefined;
  return ofProvider || hasCapability(settings)
    ? [good('SETTLEMENT_TRUST', sentence)]
    : [
        note(
          'SETTLEMENT_TRUST',
          'provider-unknown',
          `${sentence}. Nothing of the provider is known yet. ${HOW_TO_FIND_OUT}`,
        ),
      ];
}

/** In development one is derived from the store's key. */
function hasCapability({ settlementCapability, development }: TrustSettings): boolean {
  return settlementCapability !== undefined || development;
}

import type { Settings } from '../../config/index.js';
import { type Finding, good, note } from './finding.js';

type ProxySettings = Pick<Settings, 'trustedProxies' | 'settlementNetworks' | 'publicUrl' | 'development'>;

/** TRUSTED_PROXIES: whoever ends TLS in front of the gateway hides where requests come from. */
export function explainProxies(settings: ProxySettings): readonly Finding[] {
  const { trustedProxies, settlementNetworks } = settings;
  if (trustedProxies !== undefined) {
    return [good('TRUSTED_PROXIES', `${trustedProxies.cidrs.join(', ')}: their X-Forwarded-For is believed`)];
  }
  // The gateway itself speaks no TLS.
  if (settings.development || new URL(settings.publicUrl).protocol !== 'https:') return [];
  const harm =
    settlementNetworks === undefined
      ? 'all senders of unproven events, and all who guess tokens, share one limit'
      : "SETTLEMENT_NETWORKS either trusts nobody or, with the proxy's address in it, everybody";
  return [
    note(
      'TRUSTED_PROXIES',
      'none, though PUBLIC_URL is https, which something in front of the gateway must end. Where that hides the ' +
        `addresses of senders, ${harm}: set TRUSTED_PROXIES to its address, as the gateway sees it.`,
    ),
  ];
}

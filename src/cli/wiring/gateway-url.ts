import type { Settings } from '../../config/index.js';

const EVERYWHERE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };

/** The gateway of these settings, as a process of the same machine reaches it. */
export function gatewayUrl({ gatewayHost, gatewayPort }: Pick<Settings, 'gatewayHost' | 'gatewayPort'>): string {
  const host = EVERYWHERE[gatewayHost] ?? (gatewayHost.includes(':') ? `[${gatewayHost}]` : gatewayHost);
  return `http://${host}:${gatewayPort}`;
}

import { Towline } from '../../towline/index.js';
import type { GatewayAccess } from './access.js';

/** For the command line, which asks once: a person sees at once that nobody answers, and decides. */
export type GatewayClient = Towline;

export function createGatewayClient({ url, token, signal }: GatewayAccess): GatewayClient {
  // What leads to other machines was checked before.
  return new Towline({ baseUrl: url, token, signal, retryForMs: 0, allowHttp: true });
}

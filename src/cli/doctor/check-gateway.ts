import type { Settings } from '../../config/index.js';
import { gatewayUrl } from '../wiring/gateway-url.js';
import { type Finding, good, note } from './finding.js';

const WITHIN_MS = 5_000;

/** Whether the gateway of these settings runs on this machine. None is no fault: it may run elsewhere. */
export async function checkGateway(settings: Settings): Promise<readonly Finding[]> {
  const url = gatewayUrl(settings);
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(WITHIN_MS) }).catch(() => undefined);
  if (answer === undefined) return [note('gateway', `none runs at ${url} (towline gateway).`)];
  if (answer.ok) return [good('gateway', `${url} is ready`)];
  return [note('gateway', `${url} answers ${answer.status} to /readyz: its store or Temporal is away.`)];
}

import type { CliContext } from '../context.js';
import type { GatewayClient } from '../gateway-client/gateway-client.js';

const MOST = 500;

/** A home that was used before still has its flows: those that were running go on, those that were parked still wait. */
export async function tellOfEarlierFlows({ out }: CliContext, gateway: Pick<GatewayClient, 'list'>): Promise<void> {
  const { flows } = await gateway.list({ limit: MOST });
  if (flows.length === 0) return;
  const states = [...new Set(flows.map(({ state }) => state))].sort();
  const counts = states.map((state) => `${flows.filter((flow) => flow.state === state).length} ${state}`);
  out(`Flows of earlier starts${flows.length === MOST ? ' (the latest)' : ''}: ${counts.join(', ')}`);
}

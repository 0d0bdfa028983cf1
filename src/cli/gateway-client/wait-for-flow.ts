import type { FlowView } from '../../flows/messages.js';
import type { GatewayClient } from './gateway-client.js';

/** What the gateway waits for at most in one request. */
const LONGEST_SECONDS = 300;

/** The flow as soon as it ended or parked; without a timeout, however long that takes. */
export async function waitForFlow(
  gateway: Pick<GatewayClient, 'wait'>,
  flowId: string,
  timeoutSeconds = Number.POSITIVE_INFINITY,
): Promise<FlowView> {
  const endsAtMs = performance.now() + timeoutSeconds * 1_000;
  for (;;) {
    const leftSeconds = Math.max(0, (endsAtMs - performance.now()) / 1_000);
    const view = await gateway.wait(flowId, Math.min(LONGEST_SECONDS, Math.ceil(leftSeconds)));
    if (view.state !== 'running' || leftSeconds === 0) return view;
  }
}

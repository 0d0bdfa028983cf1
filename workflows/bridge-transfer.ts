import type { FlowReport, Outcome } from '../src/protocol/messages.js';
import { makeDeposit } from './bridge/deposit.js';
import { prepareTransfer, quoteApproved } from './bridge/prepare.js';
import { settleFailure } from './bridge/refund.js';
import { trackSettlement } from './bridge/track.js';
import { handleTransferEvents, whatArrived, type TransferCarried } from './bridge/transfer.js';
import { runFlow } from './engine/run-flow.js';

/**
 * A bridge transfer: quote → (approval) → deposit → settlement → done or refund. The customer pays fiat to the service,
 * the service pays our crypto invoice, and the settlement provider pays the recipient.
 */
export async function bridgeTransfer(input: unknown, carried?: TransferCarried): Promise<FlowReport> {
  return runFlow('bridge-transfer', input, carried?.flow, async (flow): Promise<Outcome> => {
    const transfer = carried?.transfer ?? (await prepareTransfer(flow, input));
    if (carried === undefined) {
      await quoteApproved(flow, transfer);
      await makeDeposit(flow, transfer);
    } else handleTransferEvents(flow, transfer);

    const ending = await trackSettlement(flow, transfer);
    if (ending === 'FAILED') return settleFailure(flow, transfer);
    return ending === 'COMPLETED'
      ? { state: 'completed', reason: null, detail: whatArrived(transfer) }
      : { state: 'refunded', reason: null, detail: 'The service or the provider refunded it.' };
  });
}

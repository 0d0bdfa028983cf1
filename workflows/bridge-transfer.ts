import type { FlowReport, Outcome } from '../src/protocol/messages.js';
import { classifyOfAnyKind } from '../src/protocol/statuses.js';
import { makeDeposit } from './bridge/deposit.js';
import { prepareTransfer, quoteApproved } from './bridge/prepare.js';
import { settleFailure } from './bridge/refund.js';
import { refundedElsewhere } from './bridge/refunded-elsewhere.js';
import { trackSettlement } from './bridge/track.js';
import {
  depositClaim,
  handleTransferEvents,
  isVetoed,
  owesNothing,
  refundClaim,
  whatArrived,
  type Transfer,
  type TransferCarried,
} from './bridge/transfer.js';
import { handedOn } from './engine/activities.js';
import type { Flow } from './engine/flow.js';
import { runFlow } from './engine/run-flow.js';

/**
 * A bridge transfer: quote → (approval) → deposit → settlement → done or refund. The customer pays fiat to the service,
 * the service pays our crypto invoice, and the settlement provider pays the recipient.
 */
export async function bridgeTransfer(input: unknown, given?: TransferCarried): Promise<FlowReport> {
  const carried = handedOn(given);
  return runFlow('bridge-transfer', input, carried?.flow, async (flow): Promise<Outcome> => {
    const transfer = carried?.transfer ?? (await prepareTransfer(flow, input));
    flow.proven = () => transfer.statuses.seen.map(classifyOfAnyKind);
    flow.vetoed = (isRefused) => isVetoed(transfer, isRefused);
    flow.evidence = () => transfer;
    flow.claims = () => [depositClaim(flow, transfer), refundClaim(flow, transfer)];
    flow.overtaken = async ({ reason }) =>
      reason !== 'failed_at_service' || owesNothing(transfer) ? null : follow(flow, transfer);
    if (carried === undefined) {
      await quoteApproved(flow, transfer);
      await makeDeposit(flow, transfer);
    } else handleTransferEvents(flow, transfer);

    return follow(flow, transfer);
  });
}

async function follow(flow: Flow, transfer: Transfer): Promise<Outcome> {
  const ending = await trackSettlement(flow, transfer);
  if (ending === 'FAILED') return settleFailure(flow, transfer);
  if (ending === 'REFUNDED') return refundedElsewhere(flow, transfer);
  return { state: 'completed', reason: null, detail: whatArrived(transfer) };
}

import { condition } from '@temporalio/workflow';
import type { BridgePreparation } from '../../activities/bridge-terms.js';
import { isPlaintext } from '../../src/temporal/plaintext-marker.js';
import type { Flow } from '../steps/flow.js';
import { act } from '../steps/activities.js';
import { checkAtOnce } from '../steps/check-input.js';
import { approveQuoteUpdate } from '../steps/messages.js';
import { READ } from '../steps/policies.js';
import { checkOrder, onUpdate } from '../steps/orders.js';
import { unlessStopped } from '../steps/stop.js';
import { NO_EVIDENCE } from '../steps/evidence.js';
import { NOTHING_SEEN } from './statuses.js';
import { quoteInWords } from './quote.js';
import type { Transfer } from './transfer.js';

/** Checks the input and gets the first quote: one step, since nothing has moved yet. */
export async function prepareTransfer(flow: Flow, rawInput: unknown): Promise<Transfer> {
  const askedAtMs = Date.now();
  const prepared = await unlessStopped(flow, () => prepare(flow, rawInput));
  flow.hearPlaintext(prepared.allowPlaintext);
  flow.keepFingerprint(prepared.fingerprint);
  const quote = { ...prepared.quote, quotedAtMs: askedAtMs };
  flow.note(quoteInWords(quote));
  return {
    input: prepared.input,
    fingerprint: prepared.fingerprint,
    pin: prepared.pin,
    windows: prepared.windows,
    quote,
    agreed: prepared.quote,
    deposit: null,
    ...NO_EVIDENCE,
    statuses: NOTHING_SEEN,
    failure: null,
    failedAtMs: null,
    toReport: null,
    serviceKnows: NOTHING_SEEN,
  };
}

function prepare(flow: Flow, rawInput: unknown): Promise<BridgePreparation> {
  const order = { flowId: flow.flowId, input: rawInput };
  const byActivity = () => act(READ, 'Check the input, get a quote', flow.timeScale).prepareBridgeTransfer(order);
  // A quote that the caller brought needs no call to the service.
  return bringsQuote(rawInput) ? checkAtOnce('prepareBridgeTransfer', order, byActivity) : byActivity();
}

/** Unchecked as it is: whoever prepares judges it. */
function bringsQuote(rawInput: unknown): boolean {
  const input = isPlaintext(rawInput) ? rawInput.__plaintext : rawInput;
  return typeof (input as Record<string, unknown> | null | undefined)?.['rate_id'] === 'string';
}

/** Waits for the approval of the quote, where the input asks for one. The deadline ends the flow with nothing moved. */
export async function quoteApproved(flow: Flow, transfer: Transfer): Promise<void> {
  const approval = { by: null as string | null };
  onUpdate(
    approveQuoteUpdate,
    async (order): Promise<{ approved: true }> => {
      approval.by = order.actor;
      return { approved: true };
    },
    (order) => checkOrder(flow, order),
  );
  if (transfer.input.approval === 'none') return;
  flow.enter('awaiting-approval', 'waiting for the approval of the quote (approve-quote)');
  await unlessStopped(flow, () => condition(() => approval.by !== null));
  flow.note('quote approved', approval.by ?? 'flow');
}

import type { FlowReport, Outcome } from '../src/flows/messages.js';
import { decisionOf, hearDecisions, lookOnceMore, prepareCheck, waitForDecision, type KycCheck } from './kyc/check.js';
import { endAsOrdered } from './steps/end-as-ordered.js';
import { endFlow, FlowEnd } from './steps/flow-end.js';
import type { Flow, FlowCarried } from './steps/flow.js';
import { goOnAsNew, tooLong } from './steps/go-on-as-new.js';
import { park } from './steps/park.js';
import { runFlow } from './steps/run-flow.js';

export interface KycCarried {
  readonly flow: FlowCarried;
  readonly check: KycCheck;
}

/**
 * A KYC check: wait for the decision on a KYC record. No money moves, so it can be cancelled at any time. Its end is told
 * by `getKycStatus`; `kyc.status.changed` makes it look at once.
 */
export async function kycCheck(input: unknown, carried?: KycCarried): Promise<FlowReport> {
  return runFlow('kyc-check', input, carried?.flow, async (flow): Promise<Outcome> => {
    const check = carried?.check ?? (await prepareCheck(flow, input));
    hearDecisions(flow, check);
    for (;;) {
      if (flow.stop !== null) throw new FlowEnd(flow.stop);
      const decision = decisionOf(check);
      if (decision === 'succeeded') return { state: 'completed', reason: null, detail: 'The KYC record was approved.' };
      if (decision === 'failed') return endFlow('failed', 'kyc_rejected', 'The KYC record was rejected.');
      if (tooLong(flow)) await goOnAsNew(flow, check.input, (): KycCarried => ({ flow: flow.carry(), check }));
      else if (!flow.deadlinePassed) await waitForDecision(flow, check);
      else await decideOverdue(flow, check);
    }
  });
}

async function decideOverdue(flow: Flow, check: KycCheck): Promise<void> {
  await lookOnceMore(flow, check);
  if (decisionOf(check) !== 'pending' || flow.stop !== null) return;
  const claimed = check.unverified.map(({ id, status, receivedAt }) => ({ id, status, receivedAt }));
  const evidence = { words: check.words, told: check.told, claimed };
  const order = await park(flow, 'no_decision', evidence, () => check.lookNow || flow.stop !== null);
  if (order === 'decided') return;
  if (order.action === 'keep-waiting') return flow.extendDeadline();
  endAsOrdered(order);
}

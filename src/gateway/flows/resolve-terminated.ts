import type { FlowView, ResolveOrder } from '../../flows/messages.js';
import type { FlowKind } from '../../flows/vocabulary.js';
import type { Claim, ClaimKey } from '../../store/claim.js';
import type { FlowFacts } from '../../temporal/flow-handle.js';
import type { FlowAddress } from '../http/flow-path.js';
import { Refusal } from '../http/refusal.js';
import { shownFlow } from './address.js';
import type { FlowOperationDeps } from './deps.js';

/** The first money operation of a kind: its claim is voided where the flow never came to ask for one. */
const MAIN_OPERATION: Readonly<Partial<Record<FlowKind, string>>> = { 'bridge-transfer': 'createBridgeDeposit' };

/**
 * A flow that was terminated in the UI hears nothing any more; what can still be decided is decided on its claims.
 * `close-not-executed`: nothing of this flow was executed, and nothing ever will be sent for it.
 */
export async function resolveTerminated(
  deps: FlowOperationDeps,
  address: FlowAddress,
  facts: FlowFacts,
  { action, note, actor }: Pick<ResolveOrder, 'action' | 'note' | 'actor'>,
): Promise<FlowView> {
  const { reference, flowId } = address;
  const { claims } = deps.store;
  const found = await claims.ofFlow(flowId);
  const executed = found.find(({ phase }) => phase === 'answered');
  if (executed !== undefined) {
    const message = `The service executed ${executed.operation} before the flow was terminated: settle it with the service.`;
    throw new Refusal(409, message, { reference, actions: [] });
  }
  if (action !== 'close-not-executed') {
    const message = 'A terminated flow can only be closed as not executed. Legal now: close-not-executed.';
    throw new Refusal(409, message, { reference, actions: ['close-not-executed'] });
  }
  const main: ClaimKey = {
    account: deps.settings.serviceAccount,
    operation: MAIN_OPERATION[address.kind] ?? '',
    reference,
  };
  const keys: readonly (ClaimKey | Claim)[] = found.length > 0 ? found : [main];
  for (const key of keys) {
    if (await claims.closeNotExecuted(key, { actor, note })) continue;
    const phase = await claims.voidUnsent(key, { flowId, fingerprint: facts.fingerprint ?? '' }, `${note} (${actor})`);
    if (phase === 'void' || phase === 'rejected') continue;
    throw new Refusal(409, `Its claim is ${phase} now. Look at the flow again.`, { reference });
  }
  deps.logger.info({ flowId, order: action, actor }, 'a person resolved a terminated flow');
  return resolvedView(await shownFlow(deps.reader, address), await claims.ofFlow(flowId));
}

/** A terminated flow whose claims are all void was resolved: nothing was executed. */
export function resolvedView(view: FlowView, claims: readonly Claim[]): FlowView {
  if (view.parked?.reason !== 'terminated') return view;
  const isClosed = claims.length > 0 && claims.every(({ phase }) => phase === 'void' || phase === 'rejected');
  if (isClosed) {
    const why = claims.find(({ reason }) => reason !== undefined)?.reason ?? 'Nothing was executed.';
    return {
      ...view,
      state: 'failed',
      parked: null,
      outcome: { state: 'failed', reason: 'not_executed', detail: why },
    };
  }
  const phases = Object.fromEntries(claims.map(({ operation, phase }) => [operation, phase]));
  const actions = claims.some(({ phase }) => phase === 'answered') ? [] : view.parked.actions;
  return { ...view, parked: { ...view.parked, actions, evidence: { ...view.parked.evidence, claims: phases } } };
}

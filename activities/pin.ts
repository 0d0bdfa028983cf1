import type { ActivityDeps } from './deps.js';
import { retryLater, storing } from './failures.js';
import type { ClaimRef, Pin } from './outcomes.js';

/** For the flow's first activity: the deployment that the flow belongs to from now on. */
export async function pinOf({ store, account }: Pick<ActivityDeps, 'store' | 'account'>): Promise<Pin> {
  const { id, epoch } = await storing(() => store.deployment.read());
  return { store: id, account, epoch };
}

/**
 * Before anything is done with a claim. A worker with another store knows nothing of it, and one of another account
 * would send it a second time: left to a worker of the flow's own deployment, however long that takes.
 */
export async function requireOwnDeployment(deps: ActivityDeps, claim: ClaimRef): Promise<Pin> {
  const ours = await pinOf(deps);
  const { pin, operation, reference } = claim;
  const problem =
    (pin.store !== ours.store && 'another store') ||
    (pin.account !== ours.account && `the account ${ours.account}, not ${pin.account}`) ||
    (pin.epoch > ours.epoch && `an older copy of the store (epoch ${ours.epoch}, not ${pin.epoch})`);
  if (problem === false) return ours;
  const message = `this worker has ${problem}: nothing is done`;
  deps.log.warn({ operation, reference, flowId: claim.flowId }, message);
  throw retryLater('other_deployment', message);
}

import { setTimeout } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { StoreUnavailableError } from '../../store/store-errors.js';
import type { Store } from '../../store/store.js';
import {
  bindNamespace,
  DEPLOYMENT_WORKFLOW_ID,
  type DeploymentRecord,
  readDeploymentRecord,
} from '../../temporal/deployment-record.js';
import { isOutage } from '../../temporal/connection.js';
import { CliError } from '../exit-codes.js';
import { callWithin } from '../../temporal/call-within.js';

/** What a process was given, by its settings. */
export interface Given {
  readonly store: Pick<Store, 'deployment'>;
  readonly namespace: string;
  readonly account: string;
}

const AGAIN_MS = 5_000;
const ANSWER_WITHIN_MS = 5_000;

/** What two parts of a deployment disagree about. */
export type Difference = 'namespace' | 'account' | 'namespace-and-account' | 'store' | 'epoch';

/** Namespace, store and account of the settings belong to different deployments. */
export class OtherDeploymentError extends CliError {
  override readonly name = 'OtherDeploymentError';
  readonly what: Difference;

  constructor(what: Difference, sentence: string) {
    super(sentence);
    this.what = what;
  }
}

/** Whether the store is bound to the namespace and the account of the settings. Needs no Temporal. @throws OtherDeploymentError */
export async function requireOwnStore({ store, namespace, account }: Given): Promise<void> {
  const { boundTo } = await store.deployment.read();
  if (boundTo === undefined) return;
  const { namespace: itsNamespace, account: itsAccount } = boundTo;
  if (itsNamespace === namespace && itsAccount === account) return;
  const both = itsNamespace !== namespace && itsAccount !== account;
  const what = both ? 'namespace-and-account' : itsNamespace !== namespace ? 'namespace' : 'account';
  const differs = both ? 'both differ' : `the ${what} differs`;
  throw new OtherDeploymentError(
    what,
    `The store belongs to the Temporal namespace ${itsNamespace} and the account ${itsAccount}, and the settings say ` +
      `namespace ${namespace} and account ${account}: ${differs}. Set TEMPORAL_NAMESPACE and ` +
      'SERVICE_ACCOUNT as they were, or give this namespace a store of its own (DATABASE_URL, or TOWLINE_HOME).',
  );
}

/**
 * Binds namespace, store and account to one another, durably, at the first start; after that it refuses any other
 * combination.
 *
 * @throws OtherDeploymentError which says what differs, and what to do
 */
export async function bindDeployment(client: Pick<Client, 'workflowService'>, given: Given): Promise<void> {
  await requireOwnStore(given);
  const { store, namespace, account } = given;
  const { id, epoch } = await store.deployment.read();
  const difference = differenceOf(await bindNamespace(client, namespace, { store: id, account, epoch }), {
    store: id,
    account,
    epoch,
  });
  if (difference !== undefined) {
    throw new OtherDeploymentError(difference.what, `The Temporal namespace ${namespace} ${difference.sentence}`);
  }
  await store.deployment.bind({ namespace, account });
}

/**
 * For a command that looks at Temporal or hands it something: refuses a namespace of another deployment. Binds nothing.
 *
 * @returns what the namespace is bound to
 * @throws OtherDeploymentError, or the client's error if Temporal does not answer
 */
export async function refuseOther(
  client: Pick<Client, 'workflowService' | 'connection'>,
  given: Given,
): Promise<DeploymentRecord | undefined> {
  await requireOwnStore(given);
  const { store, namespace, account } = given;
  const { id, epoch, boundTo } = await store.deployment.read();
  const record = await callWithin(client, ANSWER_WITHIN_MS, () => readDeploymentRecord(client, namespace));
  if (record === undefined) {
    if (boundTo === undefined) return undefined;
    const remedy = 'set TEMPORAL_ADDRESS, or TOWLINE_HOME, as it was.';
    throw new OtherDeploymentError(
      'store',
      `The Temporal namespace ${namespace} is bound to no store, and this store belongs to another Temporal: ${remedy}`,
    );
  }
  const difference = differenceOf(record, { store: id, account, epoch });
  // "towline store raise-epoch" mends another epoch.
  if (difference === undefined || difference.what === 'epoch') return record;
  throw new OtherDeploymentError(difference.what, `The Temporal namespace ${namespace} ${difference.sentence}`);
}

/** {@link refuseOther}, for a command that is of use while Temporal does not answer. @throws OtherDeploymentError */
export async function refuseOtherIfKnown(
  client: Pick<Client, 'workflowService' | 'connection'>,
  given: Given,
): Promise<void> {
  await refuseOther(client, given).catch((error: unknown) => {
    if (!isOutage(error)) throw error;
  });
}

/** {@link bindDeployment} with a deadline. False: Temporal does not answer. @throws OtherDeploymentError */
export async function isBound(client: Pick<Client, 'workflowService' | 'connection'>, given: Given): Promise<boolean> {
  try {
    await callWithin(client, ANSWER_WITHIN_MS, () => bindDeployment(client, given));
    return true;
  } catch (error) {
    if (error instanceof OtherDeploymentError || error instanceof StoreUnavailableError) throw error;
    return false;
  }
}

/** How the namespace's record differs from this store, and what to do about it. */
export function differenceOf(
  record: DeploymentRecord,
  ours: DeploymentRecord,
): { readonly what: Difference; readonly sentence: string } | undefined {
  if (record.store !== ours.store) {
    return different(
      'store',
      `is bound to another store (${record.store}; this one is ${ours.store}). Give every gateway and worker of it the ` +
        'same DATABASE_URL (or TOWLINE_HOME), or set TEMPORAL_NAMESPACE to a namespace of its own. If that store is ' +
        `gone for good, see "A store that is gone" in docs/deployment.md (workflow ${DEPLOYMENT_WORKFLOW_ID}).`,
    );
  }
  if (record.account !== ours.account) {
    return different(
      'account',
      `is bound to the account ${record.account}, and SERVICE_ACCOUNT is ${ours.account}. Set it as it was; another ` +
        'account needs a namespace and a store of its own.',
    );
  }
  if (record.epoch !== ours.epoch) {
    return different(
      'epoch',
      `is in epoch ${record.epoch}, and the store in epoch ${ours.epoch}: it was restored from a backup. Stop every ` +
        'gateway and worker, and run "towline store raise-epoch".',
    );
  }
  return undefined;
}

const different = (what: Difference, sentence: string) => ({ what, sentence });

/** For a worker, which can do nothing before Temporal answers. @throws OtherDeploymentError, or as `toEnd` is aborted */
export async function untilBound(
  client: Pick<Client, 'workflowService' | 'connection'>,
  given: Given,
  { toEnd, log }: { readonly toEnd: AbortSignal; readonly log: Pick<Logger, 'warn'> },
): Promise<void> {
  await requireOwnStore(given);
  for (let isLogged = false; !(await isBound(client, given)); isLogged = true) {
    if (!isLogged) log.warn('Temporal does not answer: this worker is not ready, and waits for it');
    await setTimeout(AGAIN_MS, undefined, { signal: toEnd });
  }
}

/** What a gateway watches while it runs. */
export interface BindingWatch {
  /** Rejects once Temporal shows that the namespace is bound to something else. Never resolves. */
  readonly ended: Promise<void>;
  stop(): void;
}

/**
 * The same for a gateway, which accepts webhooks while Temporal is down: it asks Temporal until it answers.
 *
 * @throws OtherDeploymentError if the binding is known at once to differ
 */
export async function watchBinding(
  client: Pick<Client, 'workflowService' | 'connection'>,
  given: Given,
  logger: Pick<Logger, 'warn' | 'fatal'>,
): Promise<BindingWatch> {
  await requireOwnStore(given);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  if (await isBound(client, given)) return { ended: new Promise(() => undefined), stop };
  logger.warn('Temporal does not answer: the binding of its namespace to this store is checked as soon as it does');
  const ended = new Promise<void>((_, reject) => {
    const askAgain = async (): Promise<void> => {
      while (!stopping.signal.aborted) {
        await setTimeout(AGAIN_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (!stopping.signal.aborted && (await isBound(client, given))) return;
      }
    };
    askAgain().catch((error: unknown) => {
      logger.fatal(error instanceof OtherDeploymentError ? error.message : 'the binding of the store cannot be read');
      reject(error instanceof Error ? error : new Error('the binding cannot be read'));
    });
  });
  return { ended, stop };
}

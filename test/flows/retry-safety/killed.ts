import { MockActivityEnvironment } from '@temporalio/testing';
import { createBridgeActivities } from '../../../activities/bridge-transfer.js';
import { createFlowStepActivities } from '../../../activities/flow-steps.js';
import type { ClaimRef } from '../../../activities/types.js';
import type { MoneyOperationName } from '../../../src/contract/index.js';
import { flowOf } from '../../../src/flows/index.js';
import { flowIdOf } from '../../../src/protocol/vocabulary.js';
import { ACCOUNT } from '../../harness/fixed.js';
import type { Stack } from '../../harness/stack.js';
import { CANARY_CARD } from '../../harness/parties.js';
import type { Example } from './examples.js';
import type { Fault } from './faults.js';

const CALLBACK_URL = 'http://127.0.0.1:9/callbacks';

/** Leaves claim and service as a worker did that was killed in the middle of this operation. */
export async function leaveBehind(
  bench: Stack,
  operation: MoneyOperationName,
  example: Example,
  input: Record<string, unknown>,
  reference: string,
  killed: NonNullable<Fault['killed']>,
): Promise<void> {
  const { claims } = bench.store;
  const prepared = await prepare(bench, operation, example, input, reference);
  const { flowId, fingerprint } = prepared.claim;
  const key = { account: ACCOUNT, operation, reference };
  await claims.reserve(key, { owner: 'killed', flowId, fingerprint });
  if (killed.in === 'reserved') return;
  await claims.markSending(key, 'killed');
  const answer = killed.executed ? await send(bench, operation, prepared.body) : undefined;
  if (killed.in === 'answered') await claims.recordAnswer(key, answer);
}

interface Prepared {
  readonly claim: ClaimRef;
  readonly body: unknown;
}

async function prepare(
  bench: Stack,
  operation: MoneyOperationName,
  { kind, step }: Example,
  raw: Record<string, unknown>,
  reference: string,
): Promise<Prepared> {
  const flowId = flowIdOf(kind, reference);
  if (step === null) {
    const activities = createBridgeActivities(bench.deps);
    const asked = (): ReturnType<typeof activities.checkBridgeTransfer> =>
      activities.checkBridgeTransfer({ flowId, input: raw });
    const asActivity = new MockActivityEnvironment();
    const { prepared, quote } = await (asActivity.run(asked) as ReturnType<typeof asked>);
    const { fingerprint, pin } = prepared;
    const body = { ...withNumbers(raw), rate_id: quote?.rateId, callback_url: CALLBACK_URL };
    return { claim: { operation, reference, flowId, fingerprint, pin }, body };
  }
  const { steps, input } = await createFlowStepActivities(bench.deps).prepareFlow({ flowId, input: raw });
  const claim = steps[step]?.claim;
  if (claim?.operation !== operation) throw new Error(`${kind} has no step ${step} that is ${operation}`);
  const body = flowOf(kind).submissions?.[step]?.request(input, { callbackUrl: CALLBACK_URL }) as object;
  return { claim, body: operation === 'createCardDeposit' ? { ...body, card: CANARY_CARD } : body };
}

/** Amounts are JSON numbers on the wire, and those of the bridge's example are all exact. */
function withNumbers(value: unknown): object {
  const { timeScale: _scale, ...body } = value as Record<string, unknown>;
  const isAmount = (name: string) => name.endsWith('amount');
  return JSON.parse(JSON.stringify(body), (name, member: unknown) => (isAmount(name) ? Number(member) : member));
}

function send(bench: Stack, operation: MoneyOperationName, body: unknown): Promise<unknown> {
  const call = bench.deps.service[operation] as (body: unknown) => Promise<unknown>;
  return call(body);
}

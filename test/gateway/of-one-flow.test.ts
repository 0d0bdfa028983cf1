import type { Payload } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callbackCapability } from '../../src/flows/capability.js';
import { FLOW_ID } from '../../src/temporal/payload-codec.js';
import { sample } from './proxy/caller.js';
import { newReference } from '../harness/references.js';
import { openStack, type StackWithGateway } from '../harness/stack.js';
import { until } from '../harness/until.js';

/** Nobody answers there. */
const CALLBACK_URL = 'http://127.0.0.1:9/';
const textOf = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString('utf8');

/** Every sealed payload in any part of a history. */
function sealedIn(part: unknown): Payload[] {
  if (typeof part !== 'object' || part === null || part instanceof Uint8Array) return [];
  if (!('metadata' in part) || !('data' in part)) return Object.values(part).flatMap(sealedIn);
  const payload = part as Payload;
  return textOf(payload.metadata?.['encoding']) === 'binary/encrypted' ? [payload] : [];
}

describe('what Temporal holds of a flow', () => {
  let stack: StackWithGateway;
  beforeAll(async () => {
    stack = await openStack({ gateway: {} });
  });
  afterAll(() => stack.close());

  const handleOf = (workflowId: string) => stack.client.workflow.getHandle(workflowId);
  const checkout = async () => {
    const reference = newReference('bound');
    await stack.control('POST', '/scenarios', { reference, ending: 'never' });
    const { body } = sample('createBankCheckout', reference);
    const { status } = await stack.gateway.post('/flows/bank-checkout', { ...body, callbackUrl: CALLBACK_URL });
    expect(status).toBe(201);
    const flowId = `bank-checkout/${reference}`;
    const claims = () => stack.store.claims.ofFlow(flowId);
    await until('its claim to be answered', async () => (await claims())[0]?.phase === 'answered');
    return { flowId, reference };
  };
  const pay = async ({ flowId, reference }: Awaited<ReturnType<typeof checkout>>) => {
    const said = { status: 'SUCCESSFUL', reference_id: reference };
    const path = `/callbacks/${flowId}/${callbackCapability(stack.store, flowId)}`;
    expect((await stack.gateway.post(path, said)).status).toBe(200);
    await until('it to be completed', async () => (await stateOf(flowId)) === 'completed');
  };
  const stateOf = async (flowId: string) => (await stack.gateway.get(`/flows/${flowId}`)).body['state'];
  const signalsOf = async (flowId: string) =>
    ((await handleOf(flowId).fetchHistory()).events ?? []).flatMap(
      ({ workflowExecutionSignaledEventAttributes: signal }) => signal ?? [],
    );

  it('is sealed for that flow alone: the signal that ended one checkout ends no other one that it is copied to', async () => {
    const [paid, other] = [await checkout(), await checkout()];
    await pay(paid);
    const [told] = await signalsOf(paid.flowId);
    if (told === undefined) throw new Error('it was told by no signal');
    await stack.client.workflowService.signalWorkflowExecution({
      namespace: stack.client.options.namespace,
      workflowExecution: { workflowId: other.flowId },
      signalName: told.signalName ?? '',
      input: told.input ?? null,
    });
    await until('a worker to have taken it', async () => {
      const isThere = (await signalsOf(other.flowId)).length > 0;
      return isThere && !(await handleOf(other.flowId).describe()).raw.pendingWorkflowTask;
    });
    expect(await stateOf(other.flowId)).toBe('running');
    await pay(other);

    const ownersIn = async (id: string) =>
      new Set(sealedIn(await handleOf(id).fetchHistory()).map(({ metadata }) => textOf(metadata?.[FLOW_ID])));
    const callbacks = `callbacks/${paid.flowId}`;
    expect(await ownersIn(callbacks)).toEqual(new Set([callbacks]));
    // It starts the other one.
    expect(await ownersIn(paid.flowId)).toEqual(new Set([paid.flowId, callbacks]));
  });
});

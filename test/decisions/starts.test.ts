import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { cryptoSendFlow } from '../../src/flows/crypto-send.js';
import { workflowTypeOf } from '../../src/protocol/vocabulary.js';
import { OtherRequestError, startFlow } from '../../src/temporal/start-flow.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { noted, openDecisionBench, startSend, TIME_SCALE } from './bench.js';

describe('a start under a reference that another Temporal client has used', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({}));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const inputOf = (reference: string, cryptoAmount: string) => ({
    referenceId: reference,
    receiverAddress: '0x1111111111111111111111111111111111111111',
    chain: 'CELO',
    token: 'USDC',
    cryptoAmount,
    timeScale: TIME_SCALE,
  });
  const startByGateway = (
    reference: string,
    cryptoAmount: string,
    at: Pick<Stack, 'client' | 'store'> = { client: decisions.bench.client, store: decisions.store },
  ) => startFlow(at, 'crypto-send', cryptoSendFlow.input.parse(inputOf(reference, cryptoAmount)));

  test('finds that flow if its content is the same, and is refused if it differs', async () => {
    const reference = newReference('foreign');
    const handle = await decisions.bench.startFlow('crypto-send', reference, inputOf(reference, '7.5'));
    expect(await startByGateway(reference, '7.50')).toMatchObject({ started: false, flowId: handle.workflowId });
    await expect(startByGateway(reference, '75')).rejects.toThrow(OtherRequestError);
    await handle.terminate();
    await expect(startByGateway(reference, '75')).rejects.toThrow(OtherRequestError);
  });

  test('is in the audit log as one of another client, unless its memo names the content that it was started with', async () => {
    const { bench, store } = decisions;
    const startsOf = async (flowId: string) => {
      await untilFlow(bench.client.workflow.getHandle(flowId), ({ view }) => view.stage === 'tracking');
      return (await store.audit.list({ kind: 'start', flowId, limit: 9 })).map(({ actor, means }) => [actor, means]);
    };
    const ours = await startByGateway(newReference('ours'), '7.5');
    expect(await startsOf(ours.flowId)).toEqual([]);
    const reference = newReference('other-memo');
    const workflowId = `crypto-send/${reference}`;
    const options = { taskQueue: bench.taskQueue, workflowId, args: [inputOf(reference, '7.5')] };
    const memo = (await bench.client.workflow.getHandle(ours.flowId).describe()).memo ?? {};
    await bench.client.workflow.start(workflowTypeOf('crypto-send'), { ...options, memo });
    expect(await startsOf(workflowId)).toEqual([['another Temporal client', 'unproven']]);
    await Promise.all([ours.flowId, workflowId].map((id) => bench.client.workflow.getHandle(id).terminate()));
  });

  test("is refused with its type if that is not a flow's", async () => {
    const reference = newReference('wrong-type');
    // Without a worker, a flow of any type stays open.
    const idle = await openStack({ time: 'skipping', worker: false });
    const args = [inputOf(reference, '7.5')];
    const workflowId = `crypto-send/${reference}`;
    await idle.client.workflow.start('crypto-send', { taskQueue: idle.taskQueue, workflowId, args });
    await expect(startByGateway(reference, '7.5', idle)).rejects.toThrow(OtherRequestError);
    await idle.close();
  });
});

test('a send whose answer is no object is followed like any other, without an id of the service', async () => {
  for (const answer of [null, 'accepted']) {
    const decisions = await openDecisionBench((service) => ({
      sendCrypto: async (body) => {
        await service.sendCrypto(body);
        return answer as never;
      },
    }));
    const { reference, handle } = await startSend(decisions.bench, 'odd-answer');
    await noted(handle, 'accepted');
    expect(await decisions.executions('sendCrypto', reference)).toBe(1);
    await handle.terminate();
    await decisions.close();
  }
});

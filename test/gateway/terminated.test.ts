import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startFlowWorker, type FlowWorker } from './setup/flow-worker.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { accessOf, openService, type TestService } from '../harness/service.js';
import { sample } from './proxy/caller.js';
import { KINDS, likeKinds } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

/** Until the customer has paid, and has the crypto. */
const ONRAMP_STEPS = ['PENDING', 'CRYPTO_PENDING', 'PROCESSING', 'SUCCESS'] as const;

describe('a flow that was terminated in the UI', () => {
  let tested: GatewayUnderTest;
  /** Of the last test alone: the flows of the others have sent nothing when they are terminated. */
  let worker: FlowWorker | undefined;
  let laterMs = 0;
  /** While it is set, time stands still: what a test does within a window may take any time. */
  let standingMs: number | undefined;
  const nowMs = () => standingMs ?? Date.now() + laterMs;
  /** By how much the clock of the gateway is ahead of the store's. */
  let aheadMs = 0;
  const clocks = { gateway: { nowMs: () => nowMs() + aheadMs }, storeNowMs: nowMs };
  /** Everything sent so far has had its time to arrive. */
  const settleWindowPasses = () => (laterMs += 120_000);
  /** Whether the gateway matches webhooks by itself. */
  let isMatching = true;
  /** Happens after the claims of a flow were read, and before a decision about it is recorded. */
  let meanwhile: (() => Promise<unknown>) | undefined;
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      ...clocks,
      wrapStore: (store) => ({
        ...store,
        audit: {
          ...store.audit,
          async append(note) {
            await meanwhile?.();
            return store.audit.append(note);
          },
        },
        inbox: { ...store.inbox, toMatch: async (which) => (isMatching ? store.inbox.toMatch(which) : []) },
      }),
    });
  });
  afterAll(async () => {
    await tested.close();
    await worker?.stop();
  });

  /** In a currency that no other flow of this test run has. */
  const start = async (currency: string) => {
    const reference = newReference();
    const input = transferInput(reference, { source_currency: currency, amount: '7.5' });
    expect((await tested.post('/flows/bridge-transfer', input)).status).toBe(201);
    return reference;
  };
  const handleOf = (reference: string) => tested.client.workflow.getHandle(`bridge-transfer/${reference}`);
  const listed = async (reference: string, state = ''): Promise<string[]> => {
    const query = `reference=${reference}${state === '' ? '' : `&state=${state}`}`;
    const { flows } = (await tested.get(`/flows?${query}`)).body;
    return flows.map((flow: { state: string }) => flow.state);
  };
  const isListed = (reference: string, state: string) =>
    until(`it to be listed as ${state}`, async () => (await listed(reference)).join() === state);
  /** A separate gateway, and its service. */
  const withService = async (run: (parts: TestService & { asked: GatewayUnderTest }) => Promise<void>) => {
    const scratch = await mkdtemp(join(tmpdir(), 'towline-terminated-'));
    // Nothing moves there by itself.
    const sandbox = { token: 'service-token', dbPath: join(scratch, 'sandbox.db'), stepMs: 3_600_000 };
    const parts = await openService({ timeoutMs: 5_000, sandbox });
    const asked = await gatewayUnderTest({
      ...clocks,
      gateway: { ...clocks.gateway, service: accessOf(parts.service, sandbox.token) },
    });
    try {
      await run({ ...parts, asked });
    } finally {
      await asked.close();
      await parts.close();
      await rm(scratch, { recursive: true, force: true });
    }
  };
  /** Of all flows of the namespace, also of an earlier run of this file. */
  const inFlight = async (currency: string): Promise<number> => {
    laterMs += 60_000; // Each scrape counts the flows again.
    const answer = await fetch(`${tested.url}/metrics`, { headers: { authorization: 'Bearer dev-token' } });
    return Number(
      new RegExp(`towline_value_in_flight\\{currency="${currency}"\\} (.*)`).exec(await answer.text())?.[1] ?? 0,
    );
  };

  const closed = (reference: string, as: string, kind = 'bridge-transfer') =>
    tested.post(`/flows/${kind}/${reference}/close-claims`, { as, note: 'ticket 77' });

  it('waits for a person, and is neither listed as parked nor in flight once its claims are closed', async () => {
    const before = await inFlight('MZN');
    const reference = await start('MZN');
    const key = { account: 'default', operation: 'createBridgeDeposit', reference };
    const flowId = `bridge-transfer/${reference}`;
    await tested.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
    await tested.store.claims.markSending(key, 'o');
    await handleOf(reference).terminate();
    await isListed(reference, 'parked');
    await until('it to be counted', async () => (await inFlight('MZN')) === before + 7.5);
    settleWindowPasses();
    expect((await closed(reference, 'completed')).status).toBe(200);
    expect(await listed(reference)).toEqual(['completed']);
    expect(await listed(reference, 'parked')).toEqual([]);
    // A scrape does not wait for long: it may show what the one before it counted.
    await until('it to be counted no more', async () => (await inFlight('MZN')) === before);
  });

  it('while another send of it was ordered can be closed as what the first one became', async () => {
    const order = { actor: 'jane', note: 'send it again' };
    const decided = async (as: string) => {
      const reference = await start('MWK');
      const key = { account: 'default', operation: 'createBridgeDeposit', reference };
      const flowId = `bridge-transfer/${reference}`;
      await tested.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
      await tested.store.claims.markSending(key, 'o');
      await tested.store.claims.orderSendAgain(key, 'p', order);
      await handleOf(reference).terminate();
      await isListed(reference, 'parked');
      settleWindowPasses();
      expect((await closed(reference, as)).status).toBe(200);
      const { state } = (await tested.get(`/flows/${flowId}`)).body;
      return { state, phase: (await tested.store.claims.get(key))?.phase };
    };
    expect(await decided('completed')).toEqual({ state: 'completed', phase: 'sending' });
    expect(await decided('not-executed')).toEqual({ state: 'failed', phase: 'void' });
  });

  it('is not closed while its POST may still be under way, also by a gateway whose clock is ahead', async () => {
    const reference = await start('EGP');
    const flowId = `bridge-transfer/${reference}`;
    const key = { account: 'default', operation: 'createBridgeDeposit', reference };
    await tested.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
    await handleOf(reference).terminate();
    await isListed(reference, 'parked');
    standingMs = Date.now() + laterMs;
    aheadMs = 180_000;
    await tested.store.claims.markSending(key, 'o');
    for (const as of ['not-executed', 'failed']) {
      expect(await closed(reference, as)).toMatchObject({ status: 503, body: { data: { code: 'post_under_way' } } });
    }
    expect(await tested.store.claims.get(key)).toMatchObject({ phase: 'sending' });
    expect(await tested.store.claims.orders(key)).toEqual([]);
    standingMs = undefined;
    aheadMs = 0;
    settleWindowPasses();
    isMatching = false;
    const webhook = { source: 'webhook', reference, status: 'COMPLETED', proof: 'signature', body: {} } as const;
    await tested.store.inbox.receive({
      ...webhook,
      id: reference,
      contentHash: reference,
      flowId: null,
      toMatch: true,
    });
    expect(await closed(reference, 'failed')).toMatchObject({
      status: 503,
      body: { data: { code: 'event_being_matched' } },
    });
    await tested.store.inbox.match(reference, { ...webhook, flowId: null });
    isMatching = true;
    expect((await closed(reference, 'not-executed')).status).toBe(200);
    expect(await tested.store.claims.get(key)).toMatchObject({ phase: 'void' });
  });

  it.each([
    ['an attempt to send its refund goes on', 'post_under_way'],
    ['an event says otherwise', 'event_came'],
  ])('is not closed if %s between the check and the decision', async (what, code) => {
    const reference = await start('GHS');
    const flowId = `bridge-transfer/${reference}`;
    const [deposit, refund] = [
      { account: 'default', operation: 'createBridgeDeposit', reference },
      { account: 'default', operation: 'sendCrypto', reference: `${reference}.refund` },
    ] as const;
    const { claims, inbox } = tested.store;
    for (const key of [deposit, refund]) await claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
    await claims.markSending(deposit, 'o');
    await claims.recordAnswer(deposit, {});
    await handleOf(reference).terminate();
    await isListed(reference, 'parked');
    standingMs = Date.now();
    const event = { id: reference, source: 'callback', status: 'COMPLETED', proof: 'capability', body: {} } as const;
    meanwhile = async () => {
      meanwhile = undefined;
      if (what.startsWith('an attempt')) await claims.markSending(refund, 'o');
      else await inbox.receive({ ...event, contentHash: reference, flowId, reference });
    };
    expect(await closed(reference, 'failed')).toMatchObject({ status: 503, body: { data: { code } } });
    expect([...(await claims.orders(deposit)), ...(await claims.orders(refund))]).toEqual([]);
    standingMs = undefined;
  });

  it('is not closed as not executed against a trusted event of it', async () => {
    const reference = await start('LSL');
    const flowId = `bridge-transfer/${reference}`;
    const key = { account: 'default', operation: 'createBridgeDeposit', reference };
    await tested.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
    await tested.store.claims.markSending(key, 'o');
    await handleOf(reference).terminate();
    await isListed(reference, 'parked');
    const told = { source: 'callback', status: 'COMPLETED', proof: 'capability', contentHash: reference } as const;
    await tested.store.inbox.receive({
      ...told,
      id: `evt-${reference}`,
      flowId,
      reference,
      body: { status: 'COMPLETED' },
    });
    settleWindowPasses();
    const proven = { status: 409, body: { data: { code: 'proven_otherwise' } } };
    for (const as of ['not-executed', 'failed', 'refunded']) expect(await closed(reference, as)).toMatchObject(proven);
    expect((await tested.store.claims.get(key))?.phase).toBe('sending');
    expect((await closed(reference, 'completed')).status).toBe(200);
  });

  it('is not closed as not executed if the service shows it, or cannot be asked; nor marked against its status', async () => {
    await withService(async ({ asked, service, move, close }) => {
      const { body } = sample('sendCrypto', newReference());
      const reference = body['referenceId'] as string;
      const flowId = `crypto-send/${reference}`;
      expect((await asked.post('/flows/crypto-send', { ...body, cryptoAmount: '12.5' })).status).toBe(201);
      const key = { account: 'default', operation: 'sendCrypto', reference };
      await asked.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
      await asked.store.claims.markSending(key, 'o');
      await asked.client.workflow.getHandle(flowId).terminate();
      await service.sendCrypto(body as Parameters<typeof service.sendCrypto>[0]);
      settleWindowPasses();
      const closedAs = (as: string) => asked.post(`/flows/${flowId}/close-claims`, { as, note: 'ticket 77' });
      const refused = { status: 409, body: { data: { code: 'service_has_it' } } };
      expect(await closedAs('not-executed')).toMatchObject(refused);
      await move(reference, 'SUCCESSFUL', 'sendCrypto');
      for (const as of ['failed', 'refunded']) expect(await closedAs(as)).toMatchObject(refused);
      await close();
      const unknown = { status: 503, body: { data: { code: 'service_cannot_tell' } } };
      expect(await closedAs('not-executed')).toMatchObject(unknown);
      expect((await asked.store.claims.get(key))?.phase).toBe('sending');
      expect((await closedAs('completed')).status).toBe(200);
    });
  });

  it.each([
    ['a refund of ours that arrived', 'bridge-transfer', 'sendCrypto', ['SUCCESSFUL'], 'refunded', 'completed'],
    ['both of its legs', 'onramp', 'createOnramp', ONRAMP_STEPS, 'completed', 'refunded'],
  ] as const)('is closed as %s says, and not against it', async (_, kind, operation, steps, right, wrong) => {
    const reference = newReference();
    const flowId = `${kind}/${reference}`;
    const isRefund = kind === 'bridge-transfer';
    const claimed = isRefund ? { operation, reference: `${reference}.refund` } : { operation, reference };
    const deposit = { operation: 'createBridgeDeposit', reference };
    await withService(async ({ asked, service, move }) => {
      const input = isRefund ? transferInput(reference) : sample('createOnramp', reference).body;
      expect((await asked.post(`/flows/${kind}`, input)).status).toBe(201);
      for (const claim of isRefund ? [deposit, claimed] : [claimed]) {
        const key = { account: 'default', ...claim };
        await asked.store.claims.reserve(key, { owner: 'o', flowId, fingerprint: 'f' });
        await asked.store.claims.markSending(key, 'o');
        await asked.store.claims.recordAnswer(key, {});
      }
      await asked.client.workflow.getHandle(flowId).terminate();
      await service[operation](sample(operation, claimed.reference).body as never);
      for (const status of steps) await move(claimed.reference, status, operation);
      const closedAs = (as: string) => asked.post(`/flows/${flowId}/close-claims`, { as, note: 'so it seems' });
      for (const as of [wrong, 'failed']) {
        expect(await closedAs(as)).toMatchObject({ status: 409, body: { data: { code: 'service_has_it' } } });
      }
      expect(await closedAs(right)).toMatchObject({ status: 200 });
    });
  });

  it('has not failed if others have paid its invoice: it waits to be resumed', async () => {
    const reference = newReference('paid');
    const { input } = KINDS.find(({ kind }) => kind === 'invoice-payment') ?? {};
    expect((await tested.post('/flows/invoice-payment', input?.(reference))).status).toBe(201);
    const flowId = `invoice-payment/${reference}`;
    const unsent = { flowId, fingerprint: 'f', epoch: 1 };
    for (const operation of ['createInvoice', 'payInvoice']) {
      await tested.store.claims.voidUnsent({ account: 'default', operation, reference }, unsent, 'paid_by_another_way');
    }
    await tested.client.workflow.getHandle(flowId).terminate();
    const view = await until('it to be shown as terminated', async () => {
      const { body } = await tested.get(`/flows/${flowId}`);
      return body.state === 'running' ? undefined : body;
    });
    expect(view).toMatchObject({ state: 'parked', parked: { reason: 'terminated', actions: ['resume'] } });
  });

  it('whose claim was lost in a restore is unknown, and not closed as never executed at a word', async () => {
    const restored = await gatewayUnderTest(clocks);
    const before = tested;
    tested = restored;
    try {
      await restored.store.deployment.read();
      await restored.store.deployment.raiseEpoch(1);
      const reference = await start('ZMW');
      const flowId = `bridge-transfer/${reference}`;
      await handleOf(reference).terminate();
      await isListed(reference, 'parked');
      const closedAs = (as: string) => restored.post(`/flows/${flowId}/close-claims`, { as, note: 'ticket 77' });
      expect((await closedAs('not-executed')).status).not.toBe(200);
      const key = { account: 'default', operation: 'createBridgeDeposit', reference };
      expect(await restored.store.claims.get(key)).toMatchObject({ phase: 'sending' });
      settleWindowPasses();
      expect((await closedAs('completed')).status).toBe(200);
    } finally {
      tested = before;
      await restored.close();
    }
  });

  it.each(likeKinds('watched'))('is cancelled where it only watched, as a $kind', async ({ kind, input }) => {
    const reference = newReference('watched');
    expect((await tested.post(`/flows/${kind}`, input(reference))).status).toBe(201);
    await tested.client.workflow.getHandle(`${kind}/${reference}`).terminate();
    await isListed(reference, 'cancelled');
    const order = { action: 'resume', note: 'it is to go on' };
    expect(await tested.post(`/flows/${kind}/${reference}/resolve`, order)).toMatchObject({ status: 409 });
    expect((await tested.get(`/flows/${kind}/${reference}`)).body).toMatchObject({ state: 'cancelled', parked: null });
  });

  it('by a reset continues as its next run, and is one flow, with its amount counted once', async () => {
    worker = await startFlowWorker(tested);
    const before = await inFlight('ETB');
    const reference = await start('ETB');
    const workflowId = `bridge-transfer/${reference}`;
    const finished = await until('its first workflow task to be done', async () => {
      const { events } = await handleOf(reference).fetchHistory();
      return events?.find(({ workflowTaskCompletedEventAttributes: done }) => done != null)?.eventId;
    });
    const { runId } = await handleOf(reference).describe();
    await tested.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId, runId },
      workflowTaskFinishEventId: finished,
      requestId: reference,
      reason: 'a test',
    });
    const terminated = `WorkflowId = '${workflowId}' AND ExecutionStatus = 'Terminated'`;
    await until('both runs to be seen', async () => (await tested.client.workflow.count(terminated)).count === 1);
    await isListed(reference, 'running');
    expect(await listed(reference, 'parked')).toEqual([]);
    await until('its amount to be counted once', async () => (await inFlight('ETB')) === before + 7.5);
    await handleOf(reference).terminate();
  });
});

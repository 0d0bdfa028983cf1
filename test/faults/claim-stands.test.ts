import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WorkflowNotFoundError, type WorkflowHandle } from '@temporalio/client';
import { until } from '../gateway/setup/until.js';
import { NAMESPACE } from './fixed.js';
import { endings, openRig, PATIENCE_MS, untilShown, type Rig } from './rig.js';
import { newReference, transferInput } from './transfers.js';

const FLOWS = 20;
const RESETS_EACH = 5;
const REUSED = 20;
const STARTS = 100;

describe('the claim of a reference', () => {
  let rig: Rig;
  let firstEndings: readonly string[];
  let gone: Promise<unknown>;
  const paid = Array.from({ length: REUSED / 2 }, () => newReference('paid'));
  const refused = Array.from({ length: REUSED / 2 }, () => newReference('refused'));
  /** The time setting is nothing that the caller decides: with another one it is the same request. */
  const reusedInputs = (timeScale: number) => [
    ...paid.map((reference) => transferInput(reference, { timeScale })),
    ...refused.map((reference) => transferInput(reference, { timeScale, amount: '1000.41' })),
  ];
  beforeAll(async () => {
    rig = await openRig();
    await rig.worker();
    const first = await Promise.all(reusedInputs(0.01).map((input) => rig.start(input)));
    firstEndings = await Promise.all(first.map(endingOf));
    // The server takes half a minute for this: the other tests run meanwhile.
    gone = deleteExecutions(first);
    gone.catch(() => undefined);
  }, 60_000);
  afterAll(() => rig.close());

  const executionsOf = async (reference: string) =>
    (await rig.executions()).get(`createBridgeDeposit ${reference}`) ?? 0;

  it(`outlives ${FLOWS * RESETS_EACH} resets to before the POST: extra executions 0, all flows complete`, async () => {
    const references = Array.from({ length: FLOWS }, () => newReference('reset'));
    // The first resets hit flows that wait for their settlement, the last one hits flows that have ended.
    await rig.control('POST', '/clock', { freeze: true });
    const handles = await Promise.all(references.map((reference) => rig.start(transferInput(reference))));
    for (let n = 1; n < RESETS_EACH; n += 1) {
      await untilTracking(handles);
      await Promise.all(handles.map(resetToBeforeThePost));
    }
    await untilTracking(handles);
    await rig.control('POST', '/clock', { unfreeze: true });
    await endings(handles);
    await Promise.all(handles.map(resetToBeforeThePost));

    const reports = await endings(handles);
    expect(new Set(reports.map(({ view }) => view.state))).toEqual(new Set(['completed']));
    const executions = await Promise.all(references.map(executionsOf));
    expect(executions).toEqual(references.map(() => 1));
  }, 120_000);

  it(`is one for ${STARTS} starts at once: one run, executions 1`, async () => {
    const reference = newReference('at-once');
    const input = transferInput(reference);
    const starts = await Promise.all(
      Array.from({ length: STARTS }, (_, n) => (n % 2 === 0 ? startInTemporal(input) : startAtTheGateway(input))),
    );
    expect(starts.filter((started) => started)).toHaveLength(1);
    const handle = rig.client.workflow.getHandle(`bridge-transfer/${reference}`);
    expect((await endings([handle]))[0]?.view.state).toBe('completed');
    const runs = await until(
      'the run to be listed as closed',
      async () => {
        const found: string[] = [];
        const query = `WorkflowId = 'bridge-transfer/${reference}'`;
        for await (const run of rig.client.workflow.list({ query })) found.push(run.status.name);
        return found.includes('COMPLETED') && found;
      },
      PATIENCE_MS,
    );
    expect(runs).toEqual(['COMPLETED']);
    expect(await executionsOf(reference)).toBe(1);
  }, 60_000);

  it(`outlives the flow: ${REUSED} references that are started anew after their flows are gone send nothing`, async () => {
    await gone;
    // Nobody sends the events again: at its deadline (3.6 s) the flow finds them in the inbox.
    const anew = await Promise.all(reusedInputs(0.001).map((input) => rig.start(input)));
    expect(await Promise.all(anew.map(endingOf))).toEqual(firstEndings);
    expect(firstEndings).toEqual([...paid.map(() => 'completed'), ...refused.map(() => 'rejected_by_service')]);
    expect(await Promise.all(paid.map(executionsOf))).toEqual(paid.map(() => 1));
    expect(await Promise.all(refused.map(executionsOf))).toEqual(refused.map(() => 0));
  }, 120_000);

  /** True where this start began the flow. */
  async function startInTemporal(input: Record<string, unknown>): Promise<boolean> {
    return (await rig.startOrFind(input)).started;
  }

  async function startAtTheGateway(input: Record<string, unknown>): Promise<boolean> {
    const answer = await fetch(`${rig.gatewayUrl}/flows/bridge-transfer`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer dev-token' },
      body: JSON.stringify(input),
    });
    expect([200, 201]).toContain(answer.status);
    return answer.status === 201;
  }

  const untilTracking = (handles: readonly WorkflowHandle[]) =>
    untilShown(handles, 'accepted', ({ view }) => view.stage === 'tracking');

  /** What the UI's reset does: a new run whose history ends before the deposit was scheduled. */
  async function resetToBeforeThePost(handle: WorkflowHandle): Promise<void> {
    const { events = [] } = await handle.fetchHistory();
    const submit = events?.find(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'submitBridgeDeposit',
    );
    const decision = submit?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId;
    if (decision == null) throw new Error(`${handle.workflowId} has scheduled no deposit`);
    await rig.client.workflowService.resetWorkflowExecution({
      namespace: NAMESPACE,
      workflowExecution: { workflowId: handle.workflowId, runId: (await handle.describe()).runId },
      reason: 'a test of resets',
      requestId: randomUUID(),
      workflowTaskFinishEventId: decision,
    });
  }

  async function endingOf(handle: WorkflowHandle): Promise<string> {
    return handle.result().then(
      (report) => (report as { view: { state: string } }).view.state,
      (failure: { cause?: { type?: string } }) => failure.cause?.type ?? 'failed',
    );
  }

  /** Resolves when the server has forgotten all of them. */
  async function deleteExecutions(handles: readonly WorkflowHandle[]): Promise<void> {
    for (const { workflowId } of handles) {
      await rig.client.workflowService.deleteWorkflowExecution({
        namespace: NAMESPACE,
        workflowExecution: { workflowId },
      });
    }
    for (const handle of handles) {
      await until(`${handle.workflowId} to be gone`, () => isGone(handle), PATIENCE_MS);
    }
  }

  /** Asked slowly: it takes long, and others need the server. */
  async function isGone(handle: WorkflowHandle): Promise<boolean> {
    await sleep(250);
    return handle.describe().then(
      () => false,
      (error: unknown) => error instanceof WorkflowNotFoundError,
    );
  }
});

import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import type { Finding } from '../../src/cli/doctor/finding.js';
import { QUEUES } from '../../src/protocol/task-queues.js';
import type { FlowReport } from '../../src/api/flow.js';
import { run, runProcess, scratchFolder } from '../cli/run.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';
import { openWorkerRig, type WorkerProcess } from './worker-process.js';

const AT_A_TIME = 6;
/** Four processes start, one after the other. */
jest.setTimeout(300_000);
const scratch = await scratchFolder();

let rig: Awaited<ReturnType<typeof openWorkerRig>>;
beforeAll(async () => {
  rig = await openWorkerRig(scratch, newReference('rolling'), { stepMs: 20 });
});
afterAll(() => rig.close());

test('fault 59: workers are replaced under load by SIGTERM, one after the other: not ready first, then done, POSTs cut 0', async () => {
  expect(await finding('workers of money')).toMatchObject({ verdict: 'note', code: 'none' });
  const flows: WorkflowHandle[] = [];
  const successors: WorkerProcess[] = [];
  const ofMoney = [await rig.startWorker(), await rig.startWorker()];
  for (const [index, old] of ofMoney.entries()) {
    flows.push(...(await startFlows()));
    await until('the POSTs to be under way', () => rig.service.underWay() === AT_A_TIME);
    const text = await old.metrics();
    // The second one may have sent some of those that the first one had no time for.
    expect(text).toMatch(/^towline_money_attempts_total\{operation="sendCrypto",outcome="accepted"\} \d$/m);
    expect(text).toContain('towline_money_attempts_total{operation="createOfframp",outcome="accepted"} 0');
    // All POSTs may have gone to the other one.
    const all = (await Promise.all(ofMoney.slice(index).map((worker) => worker.metrics()))).join('\n');
    expect(all).toMatch(/^temporal_worker_task_slots_used\{.*task_queue="towline-money".*\} [1-6]$/m);
    expect(text).not.toContain('crypto-send/');
    old.child.kill('SIGTERM');
    await until('it to be not ready', async () => (await old.ask('/readyz')).text.includes('draining'));
    expect(await old.ask('/readyz')).toEqual({ status: 503, text: '{"status":"draining"}' });
    expect(await old.ask('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
    rig.service.letGo();
    expect(await old.ended).toBe(0);
    successors.push(await rig.startWorker(successors.length === 0 ? 'flows,lookups,callbacks' : 'money'));
  }
  await Promise.all(flows.map((flow) => flow.result()));

  for (const flow of flows) {
    const { view } = await flow.query<FlowReport>('flow');
    expect(view.state).toBe('completed');
    expect(view.timeline.filter(({ stage }) => stage === 'outcome-unknown')).toEqual([]);
  }
  const shown = await Promise.all(successors.map(({ metrics }) => metrics()));
  expect(shown.join('')).toMatch(/^towline_service_call_seconds_count\{operation="getCryptoSend",result="2xx"\} \d+$/m);
  expect(rig.service.cut()).toBe(0);
  expect(rig.service.posts()).toBe(flows.length);

  const [others, money] = successors.map(({ child }) => `towline-worker-${child.pid}@`);
  expect((await finding('workers of flows'))?.sentence).not.toContain(money);
  expect((await finding('workers of money'))?.sentence).not.toContain(others);
  // Which process, on which machine, of which build.
  for (const queue of QUEUES) {
    expect(await finding(`workers of ${queue}`)).toMatchObject({
      code: 'ok',
      sentence: expect.stringMatching(/towline-worker-\d+@\S+\/\d+\.\d+\.\d+\+[0-9a-f]{8} /),
    });
  }
});

test('money is stopped or slowed down by one command, for all workers at once: flows wait, the doctor reports it, and flows go on when it is lifted', async () => {
  const before = rig.service.posts();
  await limitMoney('0', 'the provider is down');
  const limit = async () => (await finding('limit of money'))?.code;
  const isStopped = async () => (await limit()) === 'stopped';
  await until('the doctor to say so', isStopped);
  const flows = await startFlows();
  await until('their sends to wait', async () => {
    const waiting = await Promise.all(flows.map(async (flow) => (await flow.describe()).raw.pendingActivities));
    return waiting.every((activities) => activities?.[0]?.activityType?.name === 'submitStep');
  });
  expect(await isStopped()).toBe(true);
  expect(rig.service.posts()).toBe(before);

  // At most one for each of the queue's four partitions; without a limit, all would come.
  await limitMoney('0.001', 'it is back, and slow');
  await until('the doctor to say that it is slow', async () => (await limit()) === 'limited');
  expect(rig.service.posts()).toBeLessThan(before + AT_A_TIME);

  await limitMoney('default', 'it is as before');
  await until('the POSTs to be under way', () => rig.service.underWay() === AT_A_TIME);
  expect(await limit()).toBeUndefined();
  rig.service.letGo();
  await Promise.all(flows.map((flow) => flow.result()));
  expect(rig.service.posts()).toBe(before + AT_A_TIME);
});

/** As docs/deployment.md describes it. */
async function limitMoney(limit: string, reason: string): Promise<void> {
  const queue = ['--task-queue', 'towline-money', '--task-queue-type', 'activity'];
  const order = ['--queue-rps-limit', limit, '--queue-rps-limit-reason', reason];
  const whole = { ...(process.env as Record<string, string>), ...rig.env };
  const ran = await runProcess(['temporal', 'task-queue', 'config', 'set', ...queue, ...order], whole);
  expect(ran).toMatchObject({ code: 0 });
}

/** The doctor's finding about this; undefined if there is none. */
async function finding(about: string): Promise<Finding | undefined> {
  const { out } = await run(['doctor', '--json'], rig.env);
  const { findings } = JSON.parse(out) as { findings: Finding[] };
  return findings.find((one) => one.about === about);
}

async function startFlows(): Promise<readonly WorkflowHandle[]> {
  return Promise.all(
    Array.from({ length: AT_A_TIME }, () => {
      const reference = newReference('rolled');
      return rig.client.workflow.start('cryptoSend', {
        taskQueue: 'towline',
        workflowId: `crypto-send/${reference}`,
        args: [{ ...cryptoSend.input(reference), timeScale: 0.02 }],
      });
    }),
  );
}

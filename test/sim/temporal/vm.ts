import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import type { coresdk } from '@temporalio/proto';
import { TypedSearchAttributes } from '@temporalio/common';

type Activation = coresdk.workflow_activation.IWorkflowActivation;
type Completion = coresdk.workflow_completion.IWorkflowActivationCompletion;

/** One workflow execution in the SDK's own sandbox. */
export interface WorkflowVm {
  activate(activation: Activation): Promise<Completion>;
  /** What it has handed to sinks since. */
  getAndResetSinkCalls(): Promise<readonly { readonly ifaceName: string; readonly args: readonly unknown[] }[]>;
  dispose(): Promise<void>;
}

interface WorkflowInfo {
  readonly workflowId: string;
  readonly runId: string;
  readonly firstRunId: string;
  readonly workflowType: string;
  readonly taskQueue: string;
  readonly startMs: number;
  readonly randomnessSeed: number;
}

export interface WorkflowVms {
  create(info: WorkflowInfo): Promise<WorkflowVm>;
}

interface Creator {
  createWorkflow(options: object): Promise<WorkflowVm>;
}
type CreatorClass = new (script: vm.Script, bundle: object, timeoutMs: undefined, activities: Set<string>) => Creator;

/**
 * The worker's own interface to workflows (`@temporalio/worker/lib/workflow/reusable-vm`), which the SDK keeps private:
 * the version is pinned, and the test of the happy path fails first if it changes. Made without `create`, which would
 * hook every promise of this process to collect stack traces; without a time limit, since virtual time has none.
 */
export function loadWorkflowVms(codePath: string, activityNames: readonly string[]): WorkflowVms {
  const require = createRequire(import.meta.url);
  const { ReusableVMWorkflowCreator } = require('@temporalio/worker/lib/workflow/reusable-vm.js') as {
    ReusableVMWorkflowCreator: CreatorClass;
  };
  const text = readFileSync(codePath, 'utf8');
  const code = text.slice(0, text.lastIndexOf('//# sourceMappingURL='));
  const script = new vm.Script(code, { filename: codePath });
  const noSourceMap = { version: 3, sources: [], names: [], mappings: '' };
  const bundle = { code, sourceMap: noSourceMap, filename: codePath };
  const creator = new ReusableVMWorkflowCreator(script, bundle, undefined, new Set(activityNames));
  return {
    create: (info) =>
      creator.createWorkflow({
        info: infoOf(info),
        randomnessSeed: seedBytes(info.randomnessSeed),
        now: info.startMs,
        showStackTraceSources: false,
        failureExceptionTypeNames: [],
      }),
  };
}

/** The same workflows; what they hand to a sink is heard, with the first argument. */
export const heardBy = (vms: WorkflowVms, hear: (sink: string, what: unknown) => void): WorkflowVms => ({
  async create(info) {
    const workflow = await vms.create(info);
    return {
      dispose: () => workflow.dispose(),
      getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
      async activate(activation) {
        const completion = await workflow.activate(activation);
        for (const { ifaceName, args } of await workflow.getAndResetSinkCalls()) hear(ifaceName, args[0]);
        return completion;
      },
    };
  },
});

function infoOf(info: WorkflowInfo): object {
  const { workflowId, runId, firstRunId, workflowType, taskQueue, startMs } = info;
  return {
    workflowId,
    runId,
    workflowType,
    searchAttributes: {},
    typedSearchAttributes: new TypedSearchAttributes(),
    taskQueue,
    namespace: 'default',
    firstExecutionRunId: firstRunId,
    ...(firstRunId === runId ? {} : { continuedFromExecutionRunId: firstRunId }),
    originalExecutionRunId: runId,
    startTime: new Date(startMs),
    runStartTime: new Date(startMs),
    taskTimeoutMs: 10_000,
    attempt: 1,
    historyLength: 3,
    historySize: 1_000,
    continueAsNewSuggested: false,
    targetWorkerDeploymentVersionChanged: false,
    suggestedContinueAsNewReasons: [],
    currentBuildId: '',
    unsafe: { now: () => startMs, isReplaying: false, isReplayingHistoryEvents: false },
  };
}

function seedBytes(seed: number): number[] {
  return Array.from({ length: 8 }, (_, index) => (Math.imul(seed + 1, 2654435761 + index * 40503) >>> 8) & 0xff);
}

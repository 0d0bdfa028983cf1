import { createActivities } from '../../activities/index.js';
import { heardBy, loadWorkflowVms, type WorkflowVms } from './temporal/vm.js';

/** Activities are known to workflows by name alone. */
const ACTIVITY_NAMES = Object.keys(createActivities({ store: {} } as never)).concat(
  'submitCardDeposit',
  'deliverCallback',
);

/** The workflows that this run of the tests has bundled. */
export const bundlePath = (): string => process.env['TEST_WORKFLOW_BUNDLE'] ?? '';

export const workflowsOf = (codePath: string): WorkflowVms => loadWorkflowVms(codePath, ACTIVITY_NAMES);

/** Those of a bundle that reports its pairs of step and result (test/harness/pairs.ts). */
export const reporting = (vms: WorkflowVms, heard?: (pair: string) => void): WorkflowVms =>
  heard === undefined ? vms : heardBy(vms, (sink, what) => sink === 'pairs' && heard(String(what)));

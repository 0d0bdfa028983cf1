import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createActivities } from '../../activities/index.js';
import { loadWorkflowVms, type WorkflowVms } from './temporal/vm.js';

/** Activities are known to workflows by name alone. */
const ACTIVITY_NAMES = Object.keys(createActivities({ store: {} } as never)).concat(
  'submitCardDeposit',
  'deliverCallback',
);

/** The workflows that this run of the tests has bundled. */
export const bundlePath = (): string => process.env['TEST_WORKFLOW_BUNDLE'] ?? '';

/** The workflows of a bundle, or of a copy of it that was changed. */
export function workflowsOf(codePath: string, change?: (code: string) => string): WorkflowVms {
  if (change === undefined) return loadWorkflowVms(codePath, ACTIVITY_NAMES);
  const code = readFileSync(codePath, 'utf8');
  const changed = change(code);
  if (changed === code) throw new Error('the change of the bundle changes nothing');
  const folder = mkdtempSync(join(tmpdir(), 'towline-sim-'));
  try {
    const path = join(folder, 'workflow-bundle.js');
    writeFileSync(path, changed);
    return loadWorkflowVms(path, ACTIVITY_NAMES);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

import { rename, writeFile } from 'node:fs/promises';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { failureConverterPath } from './payload-data-converter.js';

export interface WorkflowBundleFile {
  /** For a worker: `workflowBundle: {codePath}`. */
  codePath: string;
  /** The size of what each workflow context runs. */
  bytesWithoutMap: number;
}

/**
 * Bundles the workflows to one file, so that workers need no webpack at their start.
 * The source map stays inlined, three quarters of the file: the SDK refuses bundles without it.
 */
export async function bundleWorkflows(workflowsPath: string, codePath: string): Promise<WorkflowBundleFile> {
  const { code } = await bundleWorkflowCode({ workflowsPath, failureConverterPath, logger: new DefaultLogger('WARN') });
  const unfinished = `${codePath}.${process.pid}`;
  await writeFile(unfinished, code);
  await rename(unfinished, codePath);
  return { codePath, bytesWithoutMap: code.lastIndexOf('//# sourceMappingURL=data:') };
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { failureConverterPath } from '../../src/temporal/payload-codec.js';

it('the workflow bundle takes the failure converter up by its path', async () => {
  // Inside the project, so that the SDK's packages are found from there.
  const folder = await mkdtemp(join(process.cwd(), 'node_modules', '.towline-bundle-'));
  try {
    const workflowsPath = join(folder, 'workflows.cjs');
    await writeFile(workflowsPath, `exports.nothing = async () => {};`);
    const { code } = await bundleWorkflowCode({
      workflowsPath,
      failureConverterPath,
      logger: new DefaultLogger('ERROR'),
    });
    expect(code).toContain('encodeCommonAttributes: true');
  } finally {
    await rm(folder, { recursive: true });
  }
});

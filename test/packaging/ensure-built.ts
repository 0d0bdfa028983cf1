import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../src/package-root.js';
import { mustRun } from './run-program.js';

/** dist/ of the current sources: `npm test` has it, a run of Jest alone may not. */
export async function ensureBuilt(): Promise<void> {
  const root = packageRoot();
  const module = (name: string) => JSON.stringify(pathToFileURL(join(root, 'tools', name)).href);
  const script = `
    import { ensureBuilt } from ${module('build.mjs')};
    import { withSetupLock } from ${module('setup-lock.mjs')};
    const root = ${JSON.stringify(root)};
    await withSetupLock(root, () => ensureBuilt(root));`;
  await mustRun(process.execPath, ['--input-type=module', '--eval', script], { cwd: root });
}

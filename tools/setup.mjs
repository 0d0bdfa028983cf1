import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { checkNodeVersion } from './node-version.mjs';
import { root } from './root.mjs';
import { withSetupLock } from './setup-lock.mjs';

/** Everything between a fresh clone and a dist/ that runs. */
export async function setUp() {
  checkNodeVersion();
  await withSetupLock(root, async () => {
    await ensureInstalled(root);
    await ensureBuilt(root);
  });
}

// jest transforms tests, but not what its global setup imports: hence plain JavaScript that loads the TypeScript.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import '../../tools/typescript.mjs';
import { isBuilt } from '../../tools/build.mjs';
import { root } from '../../tools/root.mjs';

/** Postgres, Temporal's dev server and the workflow bundle. */
export default async function setup() {
  const { startServers } = await import('./test-servers.ts');
  const bundle = join(root, 'dist', 'workflow-bundle.js');
  await startServers({ root, freshBundle: existsSync(bundle) && isBuilt(root) ? bundle : undefined });
}

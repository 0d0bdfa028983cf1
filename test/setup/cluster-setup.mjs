import { existsSync } from 'node:fs';
import { join } from 'node:path';
import '../../tools/typescript.mjs';
import { isBuilt } from '../../tools/build.mjs';
import { root } from '../../tools/root.mjs';

/** A real Temporal server on Postgres, and the workflow bundle. */
export default async function setup() {
  const { startClusterServers } = await import('./test-servers.ts');
  const bundle = join(root, 'dist', 'workflow-bundle.js');
  await startClusterServers({ root, freshBundle: existsSync(bundle) && isBuilt(root) ? bundle : undefined });
}

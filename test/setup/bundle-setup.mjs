import { existsSync } from 'node:fs';
import { join } from 'node:path';
import '../../tools/typescript.mjs';
import { isBuilt } from '../../tools/build.mjs';
import { root } from '../../tools/root.mjs';

/** The workflow bundle alone. */
export default async function setup() {
  const { prepareBundle } = await import('./test-servers.ts');
  const bundle = join(root, 'dist', 'workflow-bundle.js');
  await prepareBundle({ root, freshBundle: existsSync(bundle) && isBuilt(root) ? bundle : undefined });
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.js';
import type { NamedKind } from './kinds.js';

/** Kinds that the engine of rules can run: no worker has it yet. */
const ON_CORE: readonly FlowKind[] = ['crypto-send', 'bank-withdrawal'];

/** The kinds, and once more those that the engine of rules can run. */
export const onBothEngines = (kinds: readonly NamedKind[]): readonly (NamedKind & { readonly engine: string })[] => [
  ...kinds.map((kind) => ({ ...kind, engine: '' })),
  ...kinds.filter(({ kind }) => ON_CORE.includes(kind)).map((kind) => ({ ...kind, engine: ', decided by rules' })),
];

let made: Promise<string> | undefined;
let folder: string | undefined;

/** The bundle of the workflows of `workflows/core`, made once for a test file; undefined: that of the product. */
export function bundleFor({ engine }: { readonly engine: string }): Promise<string | undefined> {
  if (engine === '') return Promise.resolve(undefined);
  made ??= (async () => {
    folder = await mkdtemp(join(tmpdir(), 'towline-core-'));
    const { codePath } = await bundleWorkflows(
      join(packageRoot(), 'workflows', 'core', 'index.ts'),
      join(folder, 'core.js'),
    );
    return codePath;
  })();
  return made;
}

afterAll(async () => {
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

// `npm run build`: compiles to dist/ and bundles the workflows to dist/workflow-bundle.js.
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure, runMain } from './failure.mjs';
import { root } from './root.mjs';
import { hashOf, isStamped, stamp } from './stamp.mjs';
import { runStep, say } from './step.mjs';

export const sources = [
  'src',
  'workflows',
  'activities',
  'tsconfig.json',
  'tools/tsconfig.build.json',
  'package-lock.json',
];

/** Whether dist/ was built from these sources. */
export function isBuilt(root, hash = hashOf(root, sources)) {
  return isStamped(join(root, 'dist', '.sources-hash'), hash);
}

/** Builds dist/ when its sources have changed since. */
export async function ensureBuilt(root) {
  const hash = hashOf(root, sources);
  if (!isBuilt(root, hash)) await build(root, hash);
}

/** Into its own folder, which then replaces dist/: no process sees a half-built one, or old files. */
export async function build(root, hash = hashOf(root, sources)) {
  const unfinished = join(root, `.towline-dist-${process.pid}`);
  try {
    await compile(root, unfinished);
    // Files that a browser loads unchanged.
    const page = join('src', 'gateway', 'console', 'page');
    cpSync(join(root, page), join(unfinished, page), { recursive: true });
    await bundle(root, unfinished);
    stamp(join(unfinished, '.sources-hash'), hash);
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    renameSync(unfinished, join(root, 'dist'));
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

async function compile(root, outDir) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = ['-p', join(root, 'tools', 'tsconfig.build.json'), '--outDir', outDir, '--pretty', 'false'];
  const { code, output } = await runStep('compiling', process.execPath, [tsc, ...args], { cwd: root });
  if (code !== 0) throw new Failure(`The sources do not compile:\n${output.trimEnd()}`);
}

async function bundle(root, outDir) {
  const workflowsPath = join(root, 'workflows', 'index.ts');
  if (!existsSync(workflowsPath)) return;
  const { bundleWorkflows } = await import(pathToFileURL(join(outDir, 'src', 'temporal', 'workflow-bundle.js')).href);
  const { bytesWithoutMap } = await bundleWorkflows(workflowsPath, join(outDir, 'workflow-bundle.js'));
  say(`workflow bundle: ${(bytesWithoutMap / 1e6).toFixed(2)} MB without its source map`);
}

if (process.argv[1] === join(root, 'tools', 'build.mjs')) {
  await runMain(() => build(root));
}

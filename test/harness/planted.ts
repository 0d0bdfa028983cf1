import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { packageRoot } from '../../src/package-root.js';
import { bundleWorkflows } from '../../src/temporal/workflow-bundle.js';
import { plantNamed, type PlantName } from '../plants/index.js';

/** Files known to git and new ones, as they are here, with the packages of this checkout. @param more folders */
export function copyOfSources(...more: readonly string[]): string {
  const root = packageRoot();
  const copy = mkdtempSync(join(tmpdir(), 'towline-planted-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of [...files.toString('utf8').split('\0').filter(Boolean), ...more]) {
    cpSync(join(root, file), join(copy, file), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
  return copy;
}

/**
 * Puts other exports in the place of a copy's own. Each changed module moves aside, and one that passes the others on
 * takes its place. @returns how to undo it
 */
export function plant(copy: string, ...names: readonly PlantName[]): () => void {
  const undo: (() => void)[] = [];
  for (const { name, table, replaced } of names.map(plantNamed)) {
    for (const [index, { module, exports }] of replaced.entries()) {
      const path = join(copy, module);
      const honest = path.replace(/\.ts$/, `.without-${name}.ts`);
      renameSync(path, honest);
      const compiled = (file: string) => file.replace(/\.ts$/, '.js');
      const plants = relative(dirname(path), join(copy, 'test', 'plants', `${table}.js`));
      const beside = `./${compiled(basename(honest))}`;
      writeFileSync(
        path,
        `import * as honest from '${beside}';
import { plants } from '${plants}';
export * from '${beside}';
const { exports } = plants['${name}'][${index}];
${Object.keys(exports)
  .map((exported) => `export const ${exported} = exports.${exported}(honest);\n`)
  .join('')}`,
      );
      undo.unshift(() => {
        rmSync(path);
        renameSync(honest, path);
      });
    }
  }
  return () => undo.forEach((restore) => restore());
}

/** Bundles the workflows of a copy. @returns the path of the bundle */
export async function bundleOf(copy: string, folder: string = copy): Promise<string> {
  const { codePath } = await bundleWorkflows(join(copy, 'workflows', 'index.ts'), join(folder, 'workflow-bundle.js'));
  return codePath;
}

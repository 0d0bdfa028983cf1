import { cp, mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../src/package-root.js';
import { ensureBuilt } from '../ensure-built.js';
import { mustRun, runProgram, type Ended, type RunOptions } from '../run-program.js';

/** A user's project, with Towline's package installed in it, and its examples compiled. */
export interface InstalledProject {
  readonly folder: string;
  /** Compiles a file of the project's own. */
  check(name: string, source: string): Promise<Ended>;
  /** Runs a compiled example with plain Node. */
  run(name: string, args: readonly string[], options: Omit<RunOptions, 'cwd'>): Promise<Ended>;
}

const root = packageRoot();
const TSC = join(root, 'node_modules', 'typescript', 'bin', 'tsc');

/**
 * What `npm install towline-….tgz` does, without a network: the packed files, and our own node_modules below them.
 * The caller removes the folder.
 */
export async function installedProject(): Promise<InstalledProject> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-installed-'));
  await ensureBuilt();
  await mustRun('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  const installed = join(folder, 'node_modules', 'towline');
  await mkdir(installed, { recursive: true });
  await mustRun('tar', ['-xzf', await tarballIn(folder), '-C', installed, '--strip-components=1'], { cwd: folder });
  await symlink(join(root, 'node_modules'), join(installed, 'node_modules'));
  await mkdir(join(folder, 'node_modules', '@types'));
  await symlink(join(root, 'node_modules', '@types', 'node'), join(folder, 'node_modules', '@types', 'node'));
  await writeFile(join(folder, 'package.json'), '{"type":"module","private":true}');
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    // Our declarations are also checked, not only those of the project.
    skipLibCheck: false,
    outDir: 'out',
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  for (const example of (await readdir(join(root, 'examples'))).filter((name) => name.endsWith('.ts'))) {
    await cp(join(root, 'examples', example), join(folder, example));
  }
  await mustRun(process.execPath, [TSC, '-p', folder], { cwd: folder });
  return {
    folder,
    async check(name, source) {
      await writeFile(join(folder, name), source);
      return runProgram(process.execPath, [TSC, '-p', folder, '--noEmit', '--pretty', 'false'], { cwd: folder });
    },
    run: (name, args, options) =>
      runProgram(process.execPath, [join(folder, 'out', `${name}.js`), ...args], { cwd: folder, ...options }),
  };
}

async function tarballIn(folder: string): Promise<string> {
  const name = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
  if (name === undefined) throw new Error('npm pack made no tarball');
  return join(folder, name);
}

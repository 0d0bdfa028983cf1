// `npm run pack-client`: packs only the TypeScript client, as a package for backends. It is the entry of `towline` and
// what that imports, so that a backend installs nothing that only gateway and worker need.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { ensureBuilt } from './build.mjs';
import { Failure, runMain } from './failure.mjs';
import { root } from './root.mjs';

const NAME = 'towline-client';
const ENTRY = join('dist', 'src', 'sdk', 'index');

/** The files that an entry imports, itself included, and the packages. Compiled code has one form of import alone. */
function importsOf(entry, ending) {
  const files = new Set();
  const packages = new Set();
  const waiting = [join(root, entry + ending)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const code = readFileSync(file, 'utf8').replaceAll(/^ *(?:\/\/|\/?\*).*$/gm, '');
    for (const [, from, inType] of code.matchAll(/ from '([^'\n]+)';$|\bimport\("([^"\n]+)"\)/gm)) {
      const name = from ?? inType;
      if (name.startsWith('.')) waiting.push(join(dirname(file), name.replace(/\.js$/, ending)));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  return { files: [...files].map((file) => relative(root, file)), packages: [...packages] };
}

await runMain(async ([destination = process.cwd()]) => {
  await ensureBuilt(root);
  const parts = [importsOf(ENTRY, '.js'), importsOf(ENTRY, '.d.ts')];
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const packages = parts.flatMap((part) => part.packages);
  const unknown = packages.find((name) => own.dependencies[name] === undefined);
  if (unknown !== undefined) throw new Failure(`The client imports ${unknown}, which is no dependency of Towline.`);
  const dependencies = Object.fromEntries(Object.entries(own.dependencies).filter(([name]) => packages.includes(name)));
  const { version, license, type, engines, exports } = own;
  const description = "The client of Towline's gateway, for backends.";
  const folder = mkdtempSync(join(tmpdir(), 'towline-client-'));
  try {
    for (const file of [...parts.flatMap(({ files }) => files), 'LICENSE']) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      cpSync(join(root, file), join(folder, file));
    }
    cpSync(join(root, 'docs', 'client.md'), join(folder, 'README.md'));
    const described = { name: NAME, version, description, license, type, engines, exports, dependencies };
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(described, null, 2)}\n`);
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', destination], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'ignore'],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

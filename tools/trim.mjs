// `node tools/trim.mjs FOLDER`, for the image: removes from FOLDER/node_modules all that a built dist/ does not load there.
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runMain } from './failure.mjs';
import { root } from './root.mjs';

/** What bundles workflows, which `npm run build` has done. The worker of the SDK loads the first three at its start all the same. */
const LOADED_ONLY = ['webpack', 'memfs', 'unionfs'];
const OF_BUNDLING = new Set([...LOADED_ONLY, '@swc/core', 'swc-loader', 'source-map-loader']);
/** For those who compile or debug a package itself. */
const NOT_RUN = /\.map$|\.d\.[cm]?ts$/;

export function trim(folder) {
  const modules = join(folder, 'node_modules');
  const { dependencies } = manifestOf(folder);
  const kept = new Set();
  for (const name of Object.keys(dependencies)) keep(folder, folder, name, kept);
  for (const path of packagesIn(modules)) if (!kept.has(path)) rmSync(path, { recursive: true, force: true });
  for (const name of LOADED_ONLY) {
    const path = join(modules, name);
    rmSync(path, { recursive: true, force: true });
    writeStub(path, name);
  }
  for (const path of kept) removeFiles(path);
  removeOtherPlatforms(modules);
}

function manifestOf(path) {
  return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
}

/** As Node finds it: the nearest `node_modules` upwards that has it. */
function find(folder, from, name) {
  for (let at = from; at.length >= folder.length; at = resolve(at, '..')) {
    const path = join(at, 'node_modules', name);
    if (existsSync(join(path, 'package.json'))) return path;
  }
  return undefined;
}

function keep(folder, from, name, kept) {
  const path = OF_BUNDLING.has(name) ? undefined : find(folder, from, name);
  // Undefined also for an optional one of another platform.
  if (path === undefined || kept.has(path)) return;
  kept.add(path);
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifestOf(path);
  for (const one of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
    keep(folder, path, one, kept);
}

/** Every package below, also those in folders of packages. */
function packagesIn(modules) {
  if (!existsSync(modules)) return [];
  return readdirSync(modules).flatMap((name) => {
    const path = join(modules, name);
    if (name.startsWith('.') || !lstatSync(path).isDirectory()) return [path];
    const found = name.startsWith('@') ? readdirSync(path).map((one) => join(path, one)) : [path];
    return found.flatMap((one) => [...packagesIn(join(one, 'node_modules')), one]);
  });
}

function writeStub(path, name) {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'package.json'), JSON.stringify({ name, version: '0.0.0', main: 'index.js' }));
  writeFileSync(join(path, 'index.js'), 'module.exports = {};\n');
}

function removeFiles(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (name === 'node_modules') continue;
    if (lstatSync(path).isDirectory()) removeFiles(path);
    else if (NOT_RUN.test(name)) rmSync(path);
  }
}

/** The image is Linux with glibc, of the machine that builds it. */
function removeOtherPlatforms(modules) {
  const cpu = { x64: 'x86_64', arm64: 'aarch64' }[process.arch];
  const bridges = join(modules, '@temporalio', 'core-bridge', 'releases');
  for (const name of readdirSync(bridges))
    if (name !== `${cpu}-unknown-linux-gnu`) rmSync(join(bridges, name), { recursive: true });
  const libsql = join(modules, '@libsql');
  for (const name of readdirSync(libsql))
    if (name.startsWith('linux-') && name !== `linux-${process.arch}-gnu`)
      rmSync(join(libsql, name), { recursive: true });
}

if (process.argv[1] === join(root, 'tools', 'trim.mjs')) {
  await runMain(() => trim(resolve(process.argv[2] ?? root)));
}

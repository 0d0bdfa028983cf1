import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** A module of this folder exports one by default. */
export interface Soak {
  readonly name: string;
  /** What it does and at which size, in a line. */
  readonly says: string;
  /** Reports its figures; throws on a violation. */
  run(report: (line: string) => void): Promise<void>;
}

const HELP = `npm run soak [-- NAME... | --list | --help]

Runs the loops of the tests at full size, one after the other, on servers of its own: by hand, and at night.
Exits with 1 if one of them finds a violation.`;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { list: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    say(HELP);
    return 0;
  }
  const soaks = await loadSoaks();
  if (values.list === true) {
    for (const { name, says } of soaks) say(`${name}: ${says}`);
    return 0;
  }
  const unknown = positionals.filter((name) => !soaks.some((soak) => soak.name === name));
  if (unknown.length > 0) {
    say(`There is no soak named ${unknown.join(', ')}. There are: ${soaks.map(({ name }) => name).join(', ')}.`);
    return 2;
  }
  return runAll(positionals.length === 0 ? soaks : soaks.filter(({ name }) => positionals.includes(name)));
}

async function loadSoaks(): Promise<readonly Soak[]> {
  const files = await readdir(fileURLToPath(new URL('.', import.meta.url)));
  const modules = files.filter((file) => file.endsWith('.ts') && file !== 'main.ts').toSorted();
  return Promise.all(
    modules.map(async (file) => ((await import(new URL(file, import.meta.url).href)) as { default: Soak }).default),
  );
}

async function runAll(soaks: readonly Soak[]): Promise<number> {
  const { startServers, stopTestServers } = await import('../setup/test-servers.js');
  const failed: string[] = [];
  try {
    await startServers();
    for (const soak of soaks) if (!(await ran(soak))) failed.push(soak.name);
  } finally {
    await stopTestServers();
  }
  say(failed.length === 0 ? `${soaks.length} passed` : `failed: ${failed.join(', ')}`);
  return failed.length === 0 ? 0 : 1;
}

async function ran(soak: Soak): Promise<boolean> {
  say(`${soak.name}: ${soak.says}`);
  const startedAtMs = performance.now();
  const seconds = () => ((performance.now() - startedAtMs) / 1_000).toFixed(0);
  try {
    await soak.run((line) => say(`  ${line}`));
    say(`  passed in ${seconds()} s`);
    return true;
  } catch (error) {
    say(`  FAILED after ${seconds()} s: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return false;
  }
}

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import pc from 'picocolors';
import { runCli } from '../../src/cli/program.js';
export { anyFreePort as closedPort } from '../../src/dev-server/free-port.js';
import { packageRoot } from '../../src/package-root.js';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line in this process, like a program whose output a machine reads. */
export async function run(
  args: readonly string[],
  env: Record<string, string> = {},
  stdin = '',
  confirm?: (question: string) => Promise<boolean>,
): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCli(args, {
    env,
    out: (line) => void out.push(line),
    err: (line) => void err.push(line),
    isTerminal: false,
    colors: pc.createColors(false),
    stdin: () => Promise.resolve(stdin),
    ...(confirm === undefined ? {} : { confirm }),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** The command line as `npm test` has built it: from its sources each start would take a second more. */
export const TOWLINE = join(packageRoot(), 'tools', 'towline.mjs');

/** Runs a command line in a process of its own. */
export function runProcess(args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const child = spawn(process.execPath, [TOWLINE, ...args], {
    cwd: tmpdir(),
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return new Promise((resolve, reject) => {
    let out = '';
    let err = '';
    child.stdout.on('data', (text: Buffer) => (out += text.toString()));
    child.stderr.on('data', (text: Buffer) => (err += text.toString()));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? -1, out: out.trimEnd(), err: err.trimEnd() }));
  });
}

/** A folder for the tests of one file, removed after them. */
export async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-cli-'));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

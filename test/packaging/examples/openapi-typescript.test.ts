import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packageRoot } from '../../../src/package-root.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';
import { mustRun, runProgram } from '../run-program.js';

/** The generator uses an interface of the compiler that newer versions lack. */
const PACKAGES = ['openapi-typescript@7.13.0', 'typescript@5.9.3'];

/** @param input of the flow, as TypeScript */
const PROGRAM = (input: string) => `
import type { operations } from './towline.js';
type Input = operations['startBridgeTransfer']['requestBody']['content']['application/json'];
export const input: Input = ${input};
`;

describe('the types that openapi-typescript makes of /openapi.json', () => {
  let stack: Stack;
  let folder: string;
  withStack({}, (opened) => (stack = opened));
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towline-types-'));
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
    // How npm reaches its packages from here is in its settings.
    const env = process.env as Record<string, string>;
    await mustRun(npm, ['install', '--prefix', folder, ...quiet, ...PACKAGES], { cwd: folder, env });
    await mustRun(process.execPath, [bin('openapi-typescript', 'bin/cli.js'), `${stack.url}/openapi.json`, '-o', join(folder, 'towline.d.ts')], { cwd: folder }); // prettier-ignore
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const bin = (name: string, path: string) => join(folder, 'node_modules', name, path);
  const compiled = async (input: string) => {
    await writeFile(join(folder, 'program.ts'), PROGRAM(input));
    const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext', 'program.ts'];
    return (await runProgram(process.execPath, [bin('typescript', 'bin/tsc'), ...options], { cwd: folder })).all;
  };

  it('take the example of a transfer, without a member that has a default', async () => {
    const example = await readFile(join(packageRoot(), 'examples', 'bridge-transfer.json'), 'utf8');
    expect(await compiled(example)).toBe('');
    const defaults = ['timeScale', 'maxSlippageBps', 'approval'];
    const without = Object.entries(JSON.parse(example) as object).filter(([name]) => !defaults.includes(name));
    expect(await compiled(JSON.stringify(Object.fromEntries(without)))).toBe('');
  });

  it('refuse a member that the gateway does not know', async () => {
    const example = await readFile(join(packageRoot(), 'examples', 'bridge-transfer.json'), 'utf8');
    const wrong = { ...(JSON.parse(example) as object), callbackURL: 'https://shop.example' };
    expect(await compiled(JSON.stringify(wrong))).toContain('callbackURL');
  });
});

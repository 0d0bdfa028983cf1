import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { makeTemporaryStore, type TemporaryStore } from '../store/temporary-store.js';

const CHILD = ['--no-warnings', '--import', './tools/typescript.mjs', 'test/crash-matrix/store-child.ts'];
/** The racing child makes this many claims. */
const CLAIMS = 200;

describe('a store that one process has opened twice', () => {
  let temporary: TemporaryStore;
  const children: ChildProcess[] = [];
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await temporary.remove();
  });

  // File locks belong to the process, and closing any descriptor of the file drops them all. Without them, another
  // process that closes its store deletes the log that this one still writes to, and both may send.
  it('shows its claims to other processes, also after one of those has come and gone', async () => {
    const store = await temporary.open();
    await temporary.open();
    await run('passer-by', 'nothing');

    for (let n = 0; n < CLAIMS; n += 1) {
      const key = { account: 'a', operation: 'o', reference: `r${n}` };
      await store.claims.reserve(key, { owner: 'first', flowId: 'flow', fingerprint: 'f' });
      expect(await store.claims.markSending(key, 'first')).toBe('sending');
    }
    const second = await run('second', 'race');
    expect(second.filter((line) => line.startsWith('won'))).toEqual([]);
  }, 60_000);

  /** Runs a child to its end. @returns its output */
  async function run(name: string, command: string): Promise<readonly string[]> {
    const child = spawn(process.execPath, [...CHILD, temporary.place, name, command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) said.push(line);
    return said;
  }
});

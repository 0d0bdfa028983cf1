import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeStores } from '../store/store-kinds.js';
import { makeTemporaryStore, type TemporaryStore } from '../store/temporary-store.js';

const CHILD = ['--no-warnings', '--import', './tools/typescript.mjs', 'test/crash-matrix/store-child.ts'];

describeStores('the store', (kind) => {
  let temporary: TemporaryStore;
  let children: ChildProcess[];
  beforeEach(async () => {
    temporary = await makeTemporaryStore(kind);
    children = [];
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await temporary.remove();
  });

  /** Runs a child until its end, or until it printed `lines` lines: then it is killed. @returns its output */
  async function run(name: string, command: string, limits: { lines?: number; fileBlocks?: number } = {}) {
    const node = [process.execPath, ...CHILD, temporary.place, name, command];
    const limited =
      limits.fileBlocks === undefined ? node : ['sh', '-c', `ulimit -f ${limits.fileBlocks}; exec "$@"`, 'sh', ...node];
    const [file = '', ...args] = limited;
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (said.length === limits.lines) child.kill('SIGKILL');
    }
    return said.map((line) => line.split(' '));
  }

  const the = (word: string, said: readonly string[][]) =>
    said.filter(([first]) => first === word).map(([, value]) => value);

  describe('several processes on one database', () => {
    it('open it at once, share its key, and give each claim and each event to one of them', async () => {
      const said = (await Promise.all(['a', 'b', 'c'].map((name) => run(name, 'race')))).flat();
      expect(new Set(the('mac', said)).size).toBe(1);
      for (const won of [the('won', said), the('stored', said)]) {
        expect([won.length, new Set(won).size]).toEqual([200, 200]);
      }
      const { inbox } = await temporary.open();
      const rows = await inbox.list({ limit: 1_000, bodies: false });
      expect(rows.reduce((sum, { repeats }) => sum + repeats, 0)).toBe(400);
    }, 60_000);
  });

  describe('a process that is killed', () => {
    it('has committed every event whose receipt it returned', async () => {
      const ids = the('received', await run('a', 'receive', { lines: 60 }));
      expect(ids.length).toBeGreaterThanOrEqual(59);
      const { inbox } = await temporary.open();
      for (const id of ids) expect((await inbox.get(id ?? ''))?.state).toBe('waiting');
    }, 60_000);

    it('has committed every claim that may send', async () => {
      const references = the('sending', await run('a', 'send', { lines: 60 }));
      expect(references.length).toBeGreaterThanOrEqual(59);
      const { claims } = await temporary.open();
      for (const reference of references) {
        const claim = await claims.get({ account: 'a', operation: 'o', reference: reference ?? '' });
        expect(claim).toMatchObject({ phase: 'sending', owner: 'a' });
      }
    }, 60_000);
  });

  if (kind === 'libsql')
    describe('a file that cannot grow', () => {
      it('is an error for the event that did not fit, which leaves nothing, and no loss of those before', async () => {
        // Blocks of 512 bytes (of 1024 in some shells): between one and two megabytes.
        const said = await run('a', 'fill', { fileBlocks: 2500 });
        const [failure] = said.filter(([first]) => first === 'failed');
        expect(failure?.[2]).toBe('StoreUnavailableError');
        const { inbox } = await temporary.open();
        const received = the('received', said);
        expect(received.length).toBeGreaterThan(5);
        expect((await inbox.list({ limit: 1000 })).map(({ id }) => id)).toEqual(received.toReversed());
        expect(await inbox.get(failure?.[1] ?? '')).toBeUndefined();
      }, 60_000);
    });
});

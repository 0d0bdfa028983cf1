import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { EXIT } from '../../src/cli/exit-codes.js';
import { packageRoot } from '../../src/package-root.js';
import { scratchFolder } from './run.js';

const scratch = await scratchFolder();
const source = (path: string) => JSON.stringify(join(packageRoot(), 'src', path));

/** A service that ends when the thread of its store does, whose heap is too small for this query. */
const SERVICE = `
  import { pino } from 'pino';
  import { runProcess } from ${source('cli/run-process.ts')};
  import { openConnection } from ${source('store/libsql/connection.ts')};
  const logger = pino();
  process.exitCode = await runProcess(logger, async () => {
    const db = await openConnection({ path: ${JSON.stringify(join(scratch, 'store.db'))}, heapMb: 16 });
    const sql =
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3000000) SELECT i, 'row ' || i AS a FROM n";
    void db.read([{ sql, params: [] }]).catch(() => undefined);
    return {
      ended: db.lost,
      graceMs: 60_000,
      async stop() {
        await db.close();
        logger.info('stopped');
      },
    };
  });
`;

it('a process whose store thread dies logs the reason, stops, and ends with an exit code that has it restarted', async () => {
  const imports = ['--import', join(packageRoot(), 'tools', 'typescript.mjs'), '--input-type=module'];
  const child = spawn(process.execPath, [...imports, '--eval', SERVICE], {
    cwd: packageRoot(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (text: Buffer) => (out += text.toString()));
  expect(await once(child, 'close')).toEqual([EXIT.refused, null]);
  const lines = out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly error?: object });
  expect(lines.map(({ msg }) => msg)).toEqual([
    'ready',
    'cannot continue: exiting, to be restarted',
    'stopped',
    'ended',
  ]);
  expect(lines[1]?.error).toMatchObject({ name: 'StoreUnavailableError', code: 'THREAD' });
});

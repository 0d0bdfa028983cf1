import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { MoneyOperationName } from '../../src/contract/index.js';
import type { Repeat } from '../../src/protocol/decisions.js';
import { type Stack, openStack } from '../harness/stack.js';
import { startCardGateway, type CardGateway } from './cards/card-gateway.js';
import { runCell, type Cell, type CellResult } from './retry-safety/cell.js';
import { documentOf } from './retry-safety/document.js';
import { EXAMPLES } from './retry-safety/examples.js';
import { expectedOf } from './retry-safety/expected.js';
import { FAULTS, REPEAT_MODES, type RepeatMode } from './retry-safety/faults.js';

const DOCUMENT = join(import.meta.dirname, '..', '..', 'docs', 'retry-safety.md');
/** Flows side by side: most of them wait for a window to pass. */
const AT_ONCE = 32;

const OPERATIONS = Object.keys(EXAMPLES) as MoneyOperationName[];
const cellsOf = (mode: RepeatMode): Cell[] =>
  FAULTS.flatMap((fault) => OPERATIONS.map((operation) => ({ operation, fault, mode })));

describe('every money-moving operation, after every fault, in every repeat mode', () => {
  let bench: Stack;
  let gateway: CardGateway;
  let setting: Repeat = 'unknown';
  const results: CellResult[] = [];

  beforeAll(async () => {
    // Of a call to the service: a busy machine must not add a fault of its own.
    const timeoutMs = 8_000;
    bench = await openStack({
      time: 'skipping',
      sandbox: { stepMs: 20 },
      deps: { repeatSettingOf: () => setting },
      timeoutMs,
    });
    gateway = await startCardGateway(bench, { info() {}, warn() {}, error() {}, debug() {} });
  });
  afterAll(async () => {
    await gateway.close();
    await bench.close();
  });

  test.each(REPEAT_MODES)(
    'is executed at most once, and completes, parks or fails as the fault explains, if a repeat is $repeatMode',
    async (mode) => {
      setting = mode.setting;
      await bench.control('POST', '/settings', { repeatMode: mode.repeatMode });
      const found = await sideBySide(cellsOf(mode), AT_ONCE, (cell) => runCell(bench, gateway, cell));
      results.push(...found);
      expect(found.filter(({ met }) => !met).map(shown)).toEqual([]);
      expect(found.filter(({ executions }) => executions > 1).map(shown)).toEqual([]);
      // Nothing else may fail: what the service has is pending or settled, and what it has not is unknown.
      const failed = found.filter(({ fault, state }) => state === 'failed' && fault.isRefused !== true);
      expect(failed.map(shown)).toEqual([]);
      expect(found.filter((cell) => !isAsExpected(cell)).map(shown)).toEqual([]);
    },
    120_000,
  );

  test('is as docs/retry-safety.md lists it', async () => {
    const computed = documentOf(results);
    if (process.env['WRITE_DOCS']) await writeFile(DOCUMENT, computed);
    expect(results).toHaveLength(OPERATIONS.length * FAULTS.length * REPEAT_MODES.length);
    expect(await readFile(DOCUMENT, 'utf8')).toBe(computed);
  });
});

function isAsExpected(cell: CellResult): boolean {
  const { state, reason, executions } = expectedOf(cell);
  return cell.state === state && cell.reason === reason && cell.executions === executions;
}

function shown({ operation, fault, mode, state, reason, executions, view }: CellResult) {
  const story = view.timeline.map(({ detail }) => detail);
  return { operation, fault: fault.name, mode: mode.repeatMode, state, reason, executions, story };
}

async function sideBySide<T, R>(all: readonly T[], atOnce: number, run: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = all.entries();
  const worker = async () => {
    for (const [index, one] of waiting) results[index] = await run(one);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

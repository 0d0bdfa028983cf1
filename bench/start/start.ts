import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Benchmark } from '../benchmark.js';
import { medianOf, ratioOf, sideBySide } from '../measure/rounds.js';
import { startChild } from '../setup/child.js';
import { startTemporal } from '../setup/temporal.js';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const WITH_WEBPACK = fileURLToPath(new URL('./webpack-worker.mjs', import.meta.url));
const ROUNDS = 5;

export const start: Benchmark = {
  name: 'start',
  about: 'P10: the size of the workflow bundle, and how long a worker takes to start with it',
  async run(say) {
    const folder = await mkdtemp(join(tmpdir(), 'towline-bench-'));
    const server = await startTemporal(folder, say);
    try {
      const env = { TOWLINE_HOME: folder, TEMPORAL_ADDRESS: server.address, BENCH_DIST: DIST, LOG_LEVEL: 'warn' };
      const timed = async (program: string, args: readonly string[]): Promise<number> => {
        const startedMs = performance.now();
        const worker = await startChild(program, { args, env, folder });
        const tookMs = performance.now() - startedMs;
        await worker.stop();
        return tookMs;
      };
      const prebuilt = () => timed(join(DIST, 'src', 'cli', 'main.js'), ['worker']);
      const withWebpack = () => timed(WITH_WEBPACK, []);
      // The first ones read everything from disk.
      await prebuilt();
      await withWebpack();
      const rounds = await sideBySide({ a: prebuilt, b: withWebpack }, ROUNDS);
      const ms = (tookMs: number) => tookMs;
      const bundle = await readFile(join(DIST, 'workflow-bundle.js'), 'utf8');
      const megabytes = Buffer.byteLength(bundle.slice(0, bundle.lastIndexOf('//# sourceMappingURL=data:'))) / 1e6;
      return [
        {
          budget: 'P10',
          what: 'workflow bundle without its source map',
          limit: { bound: 'at most', value: 0.65 },
          unit: 'MB',
          measured: megabytes,
          figures: `${(Buffer.byteLength(bundle) / 1e6).toFixed(2)} MB with it; that no zod is in it is a test`,
        },
        {
          budget: 'P10',
          what: 'start of a worker from the prebuilt bundle, against webpack at its start',
          limit: { bound: 'at most', value: 0.6 },
          unit: '×',
          measured: ratioOf(rounds, ms),
          figures: `prebuilt ${medianOf(rounds.a, ms).toFixed(0)} ms; webpack ${medianOf(rounds.b, ms).toFixed(0)} ms`,
        },
      ];
    } finally {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

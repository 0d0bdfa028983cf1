// The test projects: `npm test` runs `main`, which is everything but `crash-matrix`, `packaging` and `cluster`: those want
// the machine for themselves (`.ci/run` runs them after it). `unit` is the part of `main` that needs no server.
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** Folders of test/ whose tests need no server. */
const UNIT = [
  'architecture',
  'bench',
  'cli',
  'service-client',
  'codec',
  'config',
  'contract',
  'deployment',
  'durable-names',
  'keys',
  'money',
  'properties',
  'sandbox',
  'sdk',
  'sim',
  'tools',
];
/** Projects of a folder of that name. */
const ALONE = ['crash-matrix', 'packaging', 'cluster'];
const filesIn = (folders) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

/** They wait for most of their time: begun last, they would leave the cores idle. */
const WAITING = [
  'flows/retry-safety',
  'decisions/invoices-unsent',
  'end-to-end/every-kind',
  'end-to-end/bridge-transfers',
  'gateway/proxy/away',
  'gateway/erasure',
  'gateway/orders',
];
class WaitingFirst extends BaseSequencer {
  async sort(files) {
    const rank = ({ moduleId }) => {
      const found = WAITING.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return found === -1 ? WAITING.length : found;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** What a project starts before its first test: the others' Postgres and Temporal, or a real cluster; `unit`, no server. */
const SETUP = { unit: 'bundle', cluster: 'cluster' };

const project = (name, files) => ({
  extends: true,
  test: {
    name,
    ...files,
    globalSetup: ['test/setup/property-seed.ts', `test/setup/${SETUP[name] ?? 'servers'}-setup.ts`],
  },
});

export default defineConfig({
  test: {
    // The soak and the harness take `expect` and the hooks from there: they also run without the runner.
    globals: true,
    setupFiles: ['test/setup/property-seed.ts'],
    pool: 'forks',
    // A file's modules stay loaded for the next file of the same process: loading them anew took a third of all CPU time.
    isolate: false,
    maxWorkers: 6,
    sequence: { sequencer: WaitingFirst },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      project('main', {
        include: ['test/**/*.test.ts'],
        exclude: filesIn(ALONE),
        // The SDK's workers run workflows in the test's own thread: one for each worker costs 0.3 s of CPU time. The
        // other projects have threads, and `cluster` plays the end-to-end tests with them.
        env: { TEMPORAL_DEBUG: '1' },
        setupFiles: ['test/setup/property-seed.ts', 'test/setup/workflows-in-process.ts'],
      }),
      project('unit', { include: filesIn(UNIT) }),
      project('crash-matrix', { include: filesIn(['crash-matrix']) }),
      project('packaging', { include: filesIn(['packaging']) }),
      // The end-to-end tests once more, on a real cluster.
      project('cluster', { include: filesIn(['cluster', 'end-to-end']) }),
    ],
  },
});

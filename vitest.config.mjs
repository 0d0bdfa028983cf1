// The test projects: `npm test` runs all of them but `crash-matrix`, `packaging` and `cluster`, which want the machine for
// themselves (tools/test.mjs selects; `.ci/run` runs them after the others).
import { defineConfig } from 'vitest/config';

/** Folders of test/ by project. What is listed nowhere belongs to `servers`. */
const FOLDERS = {
  unit: [
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
  ],
  'crash-matrix': ['crash-matrix'],
  packaging: ['packaging'],
  cluster: ['cluster'],
};
/** What a project runs once more, on servers of its own. */
const ALSO = { cluster: ['end-to-end'] };
const filesIn = (folders) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

/** What a project starts before its first test: the others' Postgres and Temporal, or a real cluster; `unit`, no server. */
const SETUP = { unit: 'bundle', cluster: 'cluster' };

const project = (name, files) => ({
  extends: true,
  test: {
    name,
    ...files,
    globalSetup: [`test/setup/${SETUP[name] ?? 'servers'}-setup.ts`],
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
    testTimeout: 120_000,
    hookTimeout: 120_000,
    projects: [
      ...Object.entries(FOLDERS).map(([name, folders]) =>
        project(name, { include: filesIn([...folders, ...(ALSO[name] ?? [])]) }),
      ),
      project('servers', {
        include: ['test/**/*.test.ts'],
        exclude: filesIn(Object.values(FOLDERS).flat()),
      }),
    ],
  },
});

// The test projects: `npm test` runs all of them but `crash-matrix`, `packaging` and `cluster`, which want the machine for
// themselves (tools/test.mjs selects; `.ci/run` runs them after the others).
import { defaults } from './test/setup/projects.mjs';

/** Folders of test/ by project. What is listed nowhere belongs to `temporal`. */
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
    'tools',
    'sdk',
  ],
  store: ['store'],
  sandbox: ['sandbox'],
  sim: ['sim'],
  'crash-matrix': ['crash-matrix'],
  packaging: ['packaging'],
  cluster: ['cluster'],
};
/** What a project runs once more, on servers of its own. */
const ALSO = { cluster: ['end-to-end'] };
const listed = Object.values(FOLDERS).flat();

/** What each project needs before its first test: nothing, a Postgres, the workflows' bundle, or Temporal's servers as well. */
const SETUP = {
  store: 'postgres',
  sim: 'bundle',
  temporal: 'servers',
  'crash-matrix': 'servers',
  packaging: 'servers',
  cluster: 'cluster',
};

const project = (name, match) => ({
  ...defaults,
  displayName: name,
  ...match,
  ...(name in SETUP && {
    globalSetup: `<rootDir>/test/setup/${SETUP[name]}-setup.mjs`,
    globalTeardown: '<rootDir>/test/setup/teardown.mjs',
  }),
});

export default {
  maxWorkers: 6,
  // What a test file loaded is not given back to its worker. One of two gigabytes takes longer to end than jest waits.
  workerIdleMemoryLimit: '700MB',
  testTimeout: 120_000,
  projects: [
    ...Object.entries(FOLDERS).map(([name, folders]) =>
      project(name, {
        testMatch: [...folders, ...(ALSO[name] ?? [])].map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
      }),
    ),
    project('temporal', {
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...listed.map((folder) => `<rootDir>/test/${folder}/`)],
    }),
  ],
};

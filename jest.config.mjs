// The test projects: `npm test` runs `main`, which is everything but `crash-matrix`, `packaging` and `cluster`: those want
// the machine for themselves (`.ci/run` runs them after it). `unit` is the part of `main` that needs no server.

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
const filesIn = (folders) => folders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`);

const project = (displayName, testMatch, servers, { ignored = [], setupFiles = [] } = {}) => ({
  displayName,
  testMatch,
  testPathIgnorePatterns: ignored.map((folder) => `<rootDir>/test/${folder}/`),
  setupFilesAfterEnv: ['property-seed', ...setupFiles].map((name) => `<rootDir>/test/setup/${name}.ts`),
  globalSetup: `<rootDir>/test/setup/jest/${servers}.mjs`,
  globalTeardown: '<rootDir>/test/setup/jest/teardown.mjs',
  testRunner: '<rootDir>/test/setup/jest/test-runner.mjs',
  testEnvironment: '<rootDir>/test/setup/jest/environment.mjs',
  roots: ['src', 'workflows', 'activities', 'bench', 'test', 'tools'].map((folder) => `<rootDir>/${folder}`),
  moduleFileExtensions: ['ts', 'mjs', 'js', 'cjs', 'json'],
  extensionsToTreatAsEsm: ['.ts'],
  // For `--findRelatedTests`: our imports name the compiled file.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'] },
  transform: {},
});

export default {
  projects: [
    project('main', filesIn(['**']), 'servers', { ignored: ALONE, setupFiles: ['workflows-in-process'] }),
    project('unit', filesIn(UNIT), 'bundle'),
    project('crash-matrix', filesIn(['crash-matrix']), 'servers'),
    project('packaging', filesIn(['packaging']), 'servers'),
    // The end-to-end tests once more, on a real cluster.
    project('cluster', filesIn(['cluster', 'end-to-end']), 'cluster'),
  ],
  // The tests mostly wait: for timers, servers and processes.
  maxWorkers: 6,
  // Of a test file's worker process, which a larger one is replaced by. With a limit, no test runs in Jest's own process.
  workerIdleMemoryLimit: '2GB',
  testSequencer: '<rootDir>/test/setup/jest/sequencer.mjs',
  testTimeout: 120_000,
  watchman: false,
};

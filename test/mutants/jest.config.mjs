// The tests of one mutant in the order that the runner gives, or of none: then each file in a process of its own, so that
// what it reaches is known. Servers and bundle are the runner's.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import config from '../../jest.config.mjs';

// Without names: all tests of these files. A report leaves out the space behind a name, which an empty title has.
const { files, names } = JSON.parse(readFileSync(process.env.MUTANT_TESTS, 'utf8'));
const isDryRun = process.env.MUTANT === '';
const [{ globalSetup: _setup, globalTeardown: _teardown, displayName: _name, ...main }] = config.projects;

const escaped = (name) => name.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, '\\$&');

export default {
  ...main,
  rootDir: fileURLToPath(new URL('../..', import.meta.url)),
  cacheDirectory: '<rootDir>/.jest-cache',
  testMatch: files.map((file) => `<rootDir>/${file}`),
  ...(names === undefined ? {} : { testNamePattern: `^(?:${names.map(escaped).join('|')})\\s*$` }),
  setupFilesAfterEnv: [...main.setupFilesAfterEnv, '<rootDir>/test/mutants/switch.ts'],
  testEnvironment: '<rootDir>/test/mutants/environment.mjs',
  testSequencer: '<rootDir>/test/mutants/sequencer.mjs',
  // A limit of 0: another process for each file.
  ...(isDryRun ? { maxWorkers: 4, workerIdleMemoryLimit: 0 } : { maxWorkers: 1, bail: 1 }),
  testTimeout: config.testTimeout,
  watchman: false,
  reporters: ['<rootDir>/test/mutants/reporter.mjs'],
  // A flow of a mutant may never end.
  forceExit: true,
};

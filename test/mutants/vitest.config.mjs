// The tests of one mutant in the order that the runner gives, or of none: then each file in a process of its own, so that
// what it reaches is known. Servers and bundle are the runner's.
import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

// Without names: all tests of these files. A report leaves out the space behind a name, which an empty title has.
const { files, names } = JSON.parse(readFileSync(process.env.MUTANT_TESTS, 'utf8'));
const isDryRun = process.env.MUTANT === '';

const escaped = (name) => name.replaceAll(/[$()*+.?[\\\]^{|}/-]/g, '\\$&');

class GivenOrder extends BaseSequencer {
  async sort(specifications) {
    const place = ({ moduleId }) => files.findIndex((file) => moduleId.endsWith(`/${file}`));
    return specifications.toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    globals: true,
    include: files,
    ...(names === undefined ? {} : { testNamePattern: new RegExp(`^(?:${names.map(escaped).join('|')})\\s*$`) }),
    setupFiles: ['test/setup/property-seed.ts', 'test/mutants/switch.ts'],
    pool: 'forks',
    isolate: isDryRun,
    ...(isDryRun ? { maxWorkers: 4 } : { maxWorkers: 1, bail: 1 }),
    sequence: { sequencer: GivenOrder },
    // Of flows that still run when their test is over: only a test decides.
    dangerouslyIgnoreUnhandledErrors: true,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    experimental: { fsModuleCache: true, fsModuleCachePath: '.vitest-modules' },
  },
});

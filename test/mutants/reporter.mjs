import { writeFileSync } from 'node:fs';

/** Writes what each file of tests came to. Jest's own report is not written if it stops at the first failure. */
export default class ReportFile {
  onRunComplete(_contexts, { testResults }) {
    const files = testResults.map(({ testFilePath, perfStats, failureMessage, testExecError, testResults: tests }) => ({
      path: testFilePath,
      ms: perfStats.end - perfStats.start,
      // Of a failed test, too.
      problem: testExecError === undefined ? null : failureMessage,
      tests: tests.map(({ fullName, status, duration }) => ({ name: fullName, status, ms: duration ?? 0 })),
    }));
    writeFileSync(process.env.MUTANT_REPORT, JSON.stringify(files));
  }
}

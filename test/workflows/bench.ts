/** The former names of the harness, for tests that do not use the new ones yet. */
export { ACCOUNT, SERVICE_TOKEN as TOKEN } from '../harness/fixed.js';
export { transferInput, trusted } from '../harness/inputs.js';
export { newReference } from '../harness/references.js';
export { reportOf, untilFlow as until } from '../harness/reports.js';
export {
  openStack as openBench,
  type Answer,
  type Stack as Bench,
  type StackOptions as BenchOptions,
} from '../harness/stack.js';

// Jest's own test runner, jest-circus, but for one thing: Node itself loads the test files, in Jest's worker process. So a
// module is loaded once per worker and not once per test file, which would take a third of all CPU time.
import asyncHooks from 'node:async_hooks';
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';

register('../../../tools/typescript-hooks.mjs', import.meta.url);
register('./globals-hook.mjs', import.meta.url);

const require = createRequire(import.meta.url);
/** What jest-circus keeps in the global scope, by the descriptions of its symbols. */
const STATE = [
  'EVENT_HANDLERS',
  'JEST_STATE_SYMBOL',
  'LOG_ERRORS_BEFORE_RETRY',
  'RETRY_IMMEDIATELY',
  'RETRY_TIMES',
  'TEST_TIMEOUT_SYMBOL',
  'WAIT_BEFORE_RETRY',
];
const { AsyncLocalStorage } = asyncHooks;
/** A value in Node 20, and a getter in Node 24. */
const ofNode = Object.getOwnPropertyDescriptor(asyncHooks, 'AsyncLocalStorage');
/** Of the jest-circus of this file: each that is left makes every promise of the worker slower. */
const storages = [];
class OfThisFile extends AsyncLocalStorage {
  constructor() {
    super();
    storages.push(this);
  }
}
let loaded = 0;

/** Jest's interface of a `testRunner`. */
export default function runTestFile(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  Object.assign(runtime, {
    requireInternalModule: requireAnew,
    unstable_shouldLoadAsEsm: () => true,
    async unstable_importModule(path) {
      const { href } = pathToFileURL(path);
      // The setup files.
      if (path !== testPath) return import(href);
      environment.beforeTestFile();
      loaded += 1;
      // By another name each time, so that it is run each time.
      return import(`${href}?${loaded}`);
    },
  });
  globalThis.jest = runtime.jestGlobals.jestObjectFor(testPath);
  const run = async (settings) => {
    try {
      return await circus.default(settings, config, environment, runtime, testPath, sendMessageToJest);
    } finally {
      for (const storage of storages.splice(0)) storage.disable();
    }
  };
  return process.env.TEST_EACH_ALONE === undefined ? run(globalConfig) : runEachAlone(globalConfig, run);
}

/** The file as a whole, and then each of its tests without the others, as with `-t`: its hooks run anew for each. */
async function runEachAlone(globalConfig, run) {
  const whole = await run(globalConfig);
  const names = new Set(whole.testResults.filter(({ status }) => status === 'passed').map(({ fullName }) => fullName));
  const failed = new Map();
  for (const name of names) {
    const testNamePattern = `^${name.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
    const alone = await run({ ...globalConfig, testNamePattern });
    const result = alone.testResults.find(({ fullName, status }) => fullName === name && status !== 'pending');
    if (result === undefined) throw new Error(`"${name}" cannot be run alone: its file registers it once.`);
    if (result.status === 'failed') failed.set(name, result);
    // A hook that fails, or what is left behind, is of the file.
    if (alone.testExecError !== undefined) whole.testExecError ??= alone.testExecError;
    whole.failureMessage = [whole.failureMessage, alone.failureMessage].filter(Boolean).join('\n') || null;
  }
  whole.testResults = whole.testResults.map((result) => failed.get(result.fullName) ?? result);
  whole.numFailingTests += failed.size;
  whole.numPassingTests -= failed.size;
  return whole;
}

/** The tests of a file, its hooks and its handlers are state of that module. */
function requireAnew(path) {
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (STATE.includes(symbol.description)) delete globalThis[symbol];
  delete require.cache[path];
  Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { configurable: true, value: OfThisFile });
  try {
    return require(path);
  } finally {
    Object.defineProperty(asyncHooks, 'AsyncLocalStorage', ofNode);
  }
}

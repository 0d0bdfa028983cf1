import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { leftBehind, tracesOfFile } from './left-behind.mjs';

const RealDate = Date;
const realSetTimeout = setTimeout;

/** Jest's interface of a `testEnvironment`: the worker process itself, without a context of its own. */
export default class WorkerProcess {
  global = globalThis;
  fakeTimers = null;
  moduleMocker = new ModuleMocker(globalThis);
  #before;
  // Jest replaces both for the time of a file.
  #console = Object.getOwnPropertyDescriptor(globalThis, 'console');
  #exit = Object.getOwnPropertyDescriptor(process, 'exit');

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {}

  /** Called by our test runner. */
  beforeTestFile() {
    this.#before = tracesOfFile();
  }

  /** What a file leaves behind fails it: its worker goes on with the next one. */
  async handleTestEvent({ name }, state) {
    if (name !== 'run_finish') return;
    const fake = Date === RealDate && setTimeout === realSetTimeout ? [] : ['fake timers'];
    this.fakeTimersModern.useRealTimers();
    const left = [...fake, ...(await leftBehind(this.#before))];
    if (left.length === 0) return;
    const error = new Error(`The test file leaves behind: ${left.join(', ')}`);
    error.stack = error.message;
    state.unhandledErrors.push(error);
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    Object.defineProperty(globalThis, 'console', this.#console);
    Object.defineProperty(process, 'exit', this.#exit);
  }

  getVmContext() {
    return null;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }
}

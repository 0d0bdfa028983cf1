import WorkerProcess from '../setup/jest/environment.mjs';

/** jest-circus fails a test by them. */
const UNHANDLED = ['uncaughtException', 'unhandledRejection', 'rejectionHandled'];

/**
 * Only a test decides: not what a flow throws that still runs when its test is over, nor what a file leaves behind. The
 * first failure is enough.
 */
export default class MutantProcess extends WorkerProcess {
  #hasFailed = false;

  async handleTestEvent({ name, test }) {
    if (name === 'run_start')
      for (const event of UNHANDLED) process.removeAllListeners(event).on(event, () => undefined);
    else if (name === 'test_start' && this.#hasFailed && process.env.MUTANT !== '') test.mode = 'skip';
    else if (name === 'test_done') this.#hasFailed ||= test.errors.length > 0;
    else if (name === 'run_finish') this.fakeTimersModern.useRealTimers();
  }
}

import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
// Not the fake one of a test.
import { setImmediate } from 'node:timers';
import type { StoreThread } from '../../src/store/libsql/connection.js';
import { libsqlThread } from '../../src/store/libsql/thread.js';
import type { FromThread, ThreadData, ToThread } from '../../src/store/sql-message.js';

const require = createRequire(import.meta.url);

/**
 * The program of the store's thread in this thread: another one for each store takes 50 ms of CPU time. Messages are copied
 * and come in a later turn, as between threads. It does not wait for the disk: no test of one process can lose its machine's
 * power. A closed file stays open until its statements are collected: tests of the file itself, of contention, and all
 * processes have the thread and the waiting.
 */
export function threadInProcess(data: ThreadData): StoreThread {
  const workerData = { ...data, pragmas: [...data.pragmas, 'synchronous=OFF'] };
  const [outside, inside] = [new EventEmitter(), new EventEmitter()];
  const post = (to: EventEmitter) => (message: FromThread | ToThread) => {
    const copy = structuredClone(message);
    setImmediate(() => to.emit('message', copy));
  };
  const parentPort = {
    on: inside.on.bind(inside),
    postMessage: post(outside),
    close: () => setImmediate(() => outside.emit('exit')),
  };
  const requireInThread = (name: string): unknown =>
    name === 'node:worker_threads' ? { parentPort, workerData } : (require(name) as unknown);
  libsqlThread(requireInThread as NodeJS.Require);
  return {
    postMessage: post(inside),
    on: outside.on.bind(outside),
    ref() {},
    unref() {},
    terminate: () => Promise.resolve(),
  };
}

import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { LIBSQL } from '../dialect.js';
import { libsqlThread } from './thread.js';
import type { SqlConnection } from '../sql-connection.js';
import type { Batch, FromThread, Outcome, Request, StepResult, ThreadData, ToThread } from '../sql-message.js';
import { StoreRequestError, StoreUnavailableError } from '../store-errors.js';

interface Waiting {
  readonly request: Request;
  readonly writes: boolean;
  readonly resolve: (results: readonly StepResult[]) => void;
  readonly reject: (error: Error) => void;
}

const MAX_BATCH = 256;
const DURABLE = ['journal_mode=WAL', 'synchronous=FULL', 'busy_timeout=5'];
/** 16 MB. All writes wait for a checkpoint; a late one copies a page only once, however often it was written. */
const CHECKPOINT = 'wal_autocheckpoint=4000';

// Bundlers and loaders that keep function names call `__name`, which the thread's text would not have.
const THREAD = `const __name = (target) => target; (${libsqlThread.toString()})(require);`;

/** What a `Worker` has of it that is used here. */
export interface StoreThread {
  postMessage(message: ToThread): void;
  on(event: 'message', listener: (message: FromThread) => void): unknown;
  on(event: 'error' | 'exit', listener: () => void): unknown;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

/**
 * A database behind a thread. What comes during a transaction shares the next one: all writes of all processes happen one
 * after the other, whatever their turn.
 *
 * @param options.lockTimeoutMs how long a batch tries to get the lock while other processes write. @default 5000
 * @param options.pragmas further ones, for tests
 * @param options.heapMb of the thread, for tests. @default as much as this process
 * @param options.startThread for tests, which take its program into their own thread. @default a thread
 * @throws StoreUnavailableError if the file cannot be opened
 */
export async function openConnection(options: {
  readonly path: string;
  readonly pragmas?: readonly string[];
  readonly lockTimeoutMs?: number;
  readonly heapMb?: number;
  readonly startThread?: (data: ThreadData) => StoreThread;
}): Promise<SqlConnection> {
  const workerData: ThreadData = {
    libsql: createRequire(import.meta.url).resolve('libsql'),
    path: options.path,
    pragmas: [...DURABLE, CHECKPOINT, ...(options.pragmas ?? [])],
    lockTimeoutMs: options.lockTimeoutMs ?? 5000,
  };
  const thread = options.startThread?.(workerData) ?? startWorkerThread(workerData, options.heapMb);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
  const post = (message: ToThread): void => thread.postMessage(message);

  const queue: Waiting[] = [];
  /** Numbers of the texts that the thread knows. */
  const numbers = new Map<string, number>();
  /** The batch that the thread has. */
  let inFlight: readonly Waiting[] = [];
  let state: 'open' | 'closing' | 'closed' = 'open';
  let flushing = false;
  const opened = createSignal();
  const closed = createSignal();

  const flush = (): void => {
    flushing = false;
    if (inFlight.length > 0) return;
    inFlight = queue.splice(0, MAX_BATCH);
    if (inFlight.length === 0) {
      if (state === 'closing') post({ kind: 'close' });
      else thread.unref();
      return;
    }
    // The thread keeps the process alive only while it works.
    thread.ref();
    const batch: Batch = {
      writes: inFlight.some(({ writes }) => writes),
      ...numbered(inFlight.map(({ request }) => request)),
    };
    post({ kind: 'batch', batch });
  };

  /** Texts are constants of this program, or built from a few: never from received data. */
  const numbered = (requests: readonly Request[]): Pick<Batch, 'requests' | 'texts'> => {
    const texts: [number, string][] = [];
    const numberOf = (sql: string): number => {
      const known = numbers.get(sql);
      if (known !== undefined) return known;
      const number = numbers.size;
      numbers.set(sql, number);
      texts.push([number, sql]);
      return number;
    };
    return {
      requests: requests.map((steps) => steps.map(({ sql, params }) => [numberOf(sql), params] as const)),
      texts,
    };
  };

  const finish = (settle: (waiting: Waiting, index: number) => void): void => {
    const finished = inFlight;
    inFlight = [];
    finished.forEach(settle);
    flush();
  };

  const onMessage = (message: FromThread): void => {
    switch (message.kind) {
      case 'opened':
        opened.resolve();
        flush();
        break;
      case 'done':
        finish((waiting, index) => settleOne(waiting, message.outcomes[index]));
        break;
      case 'failed':
        opened.reject(new StoreUnavailableError(message.code));
        finish(({ reject }) => reject(new StoreUnavailableError(message.code)));
        break;
      case 'closed':
        closed.resolve();
        break;
      default:
        message satisfies never;
    }
  };

  let lose = (_error: Error): void => {};
  const lost = new Promise<never>((_, reject) => {
    lose = reject;
  });
  lost.catch(() => {});

  // It is not restarted: a thread that ended by itself hit a bug, and the outcome of its last transaction is not known
  // here. The process ends (`lost`), and its supervisor starts another one.
  const onEnd = (): void => {
    const code = state === 'open' ? 'THREAD' : 'CLOSED';
    if (state === 'open') lose(new StoreUnavailableError('THREAD'));
    state = 'closed';
    opened.reject(new StoreUnavailableError(code));
    closed.resolve();
    for (const { reject } of [...inFlight, ...queue.splice(0)]) reject(new StoreUnavailableError(code));
  };

  thread.on('message', onMessage);
  thread.on('error', onEnd);
  thread.on('exit', onEnd);

  const submit = (request: Request, writes: boolean): Promise<readonly StepResult[]> =>
    new Promise((resolve, reject) => {
      if (state !== 'open') {
        reject(new StoreUnavailableError('CLOSED'));
        return;
      }
      queue.push({ request, writes, resolve, reject });
      if (flushing || inFlight.length > 0) return;
      // Requests of the same tick go together.
      flushing = true;
      setImmediate(flush);
    });

  const connection: SqlConnection = {
    dialect: LIBSQL,
    lost,
    write: (request) => submit(request, true),
    read: (request) => submit(request, false),
    async close() {
      if (state === 'open') {
        state = 'closing';
        thread.ref();
        flush();
      }
      await closed.promise;
      await thread.terminate();
    },
  };

  try {
    await opened.promise;
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  return connection;
}

function startWorkerThread(workerData: ThreadData, heapMb: number | undefined): StoreThread {
  // No flags of this process: they may load code that only the main thread needs.
  const limits = heapMb === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMb } };
  return new Worker(THREAD, { eval: true, workerData, execArgv: [], name: 'store', ...limits });
}

function settleOne({ resolve, reject }: Waiting, outcome: Outcome | undefined): void {
  if (outcome === undefined) reject(new StoreUnavailableError('THREAD'));
  else if ('failed' in outcome) reject(new StoreRequestError(outcome.failed));
  else resolve(outcome.results);
}

/** `Promise.withResolvers` of Node 22, for one that carries no value. */
function createSignal(): { promise: Promise<void>; resolve: () => void; reject: (error: Error) => void } {
  let resolve = (): void => {};
  let reject = (_error: Error): void => {};
  const promise = new Promise<void>((res, rej) => {
    resolve = res;
    reject = rej;
  });
  // It is not always awaited, and an unhandled rejection would end the process.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

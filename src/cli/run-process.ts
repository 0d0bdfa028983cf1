import type { Logger } from 'pino';
import { errorForLog } from '../gateway/http/refusal.js';
import type { Settings } from '../config/index.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { explainError } from './explain-error.js';

export interface RunningService {
  /** Its URL. */
  readonly url?: string;
  /** Settles if it ends by itself, which it never should. */
  readonly ended?: Promise<void>;
  /** Accepts nothing new, finishes what is in flight. */
  stop(): Promise<void>;
  /** How long that may take: after that, a process without a parent ends itself. */
  readonly graceMs: number;
}

/**
 * The life of a worker, gateway or sandbox process: start, report that it is ready, serve until it is asked to end,
 * finish what is in flight.
 */
export async function runProcess(
  logger: Logger,
  /** `toEnd` is aborted if the process is asked to end before it is ready: then it may reject with anything. */
  start: (toEnd: AbortSignal) => Promise<RunningService>,
): Promise<ExitCode> {
  const toEnd = new AbortController();
  const asked = askedToEnd();
  void asked.then(() => toEnd.abort());
  endOnBugs(logger);
  let service: RunningService;
  try {
    service = await start(toEnd.signal);
  } catch (error) {
    if (toEnd.signal.aborted) {
      logger.info({ why: await asked }, 'ended before it was ready');
      return EXIT.done;
    }
    const explained = explainError(error);
    reportToParent({ kind: 'refused', sentence: explained?.sentence ?? 'It failed to start.' });
    if (explained === undefined) logger.fatal({ error: errorForLog(error) }, 'failed to start');
    throw error;
  }
  reportToParent({ kind: 'ready', ...(service.url === undefined ? {} : { url: service.url }) });
  logger.info('ready');

  const byItself = (service.ended ?? new Promise<void>(() => undefined)).then(
    () => undefined,
    (error: unknown) => logger.fatal({ error: errorForLog(error) }, 'cannot continue: exiting, to be restarted'),
  );
  const why = await Promise.race([asked, byItself]);
  if (why !== undefined) logger.info({ why }, 'ending');
  setTimeout(() => process.exit(EXIT.refused), service.graceMs).unref();
  await service
    .stop()
    .catch((error: unknown) => logger.error({ error: errorForLog(error) }, 'did not shut down cleanly'));
  logger.info('ended');
  return why === undefined ? EXIT.refused : EXIT.done;
}

/** Node would print the raw error, with everything in it, into our log. */
function endOnBugs(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ error: errorForLog(error) }, 'a bug: ending');
    process.exit(EXIT.refused);
  });
}

/**
 * Resolves, with the reason, when this process is to end: by a signal, or because its parent is gone in any way (the
 * system closes the channel even after a SIGKILL). A second signal ends it at once.
 */
function askedToEnd(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false;
    const ask = (why: string) => {
      if (asked) process.exit(130);
      asked = true;
      resolve(why);
    };
    if (!isChild()) {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
      return;
    }
    process.on('SIGTERM', () => resolve('SIGTERM'));
    process.on('disconnect', () => resolve('its parent is gone'));
    // The parent may be gone before we listen: our modules take a while to load.
    if (!process.connected) resolve('its parent is gone');
    // A terminal sends these to all of its processes, but our parent ends us in its own order.
    for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  });
}

/** What a child process reports to `towline up` over its IPC channel. */
export type ChildMessage =
  | { readonly kind: 'ready'; readonly url?: string }
  /** It cannot start, for a reason that a person can do something about. */
  | { readonly kind: 'refused'; readonly sentence: string };

/** Does nothing if there is no parent. */
function reportToParent(message: ChildMessage): void {
  if (process.connected) process.send?.(message);
}

/** Whether `towline up` started this process, which it may have survived since. */
function isChild(): boolean {
  return process.send !== undefined;
}

export type ProcessName = 'gateway' | 'sandbox' | 'worker';

/** More than the longest POST, which a worker finishes before it ends, as a gateway does with the POST of a card. */
const POST_GRACE_MS = 20_000;
const GRACE_MS = 15_000;

/** How long a process may take to finish what is in flight. */
export function graceMsOf(name: ProcessName, { serviceTimeoutMs }: Pick<Settings, 'serviceTimeoutMs'>): number {
  return name === 'sandbox' ? GRACE_MS : serviceTimeoutMs + POST_GRACE_MS;
}

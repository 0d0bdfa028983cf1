import type { Logger } from 'pino';
import { errorForLog } from '../../gateway/http/error-for-log.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { explainError } from '../explain-error.js';
import { askedToEnd } from './asked-to-end.js';
import { tellParent } from './parent.js';

export interface RunningService {
  /** Where it listens. */
  readonly url?: string;
  /** Settles when it ends by itself, which it never should. */
  readonly ended?: Promise<void>;
  /** Takes nothing new, finishes what is in flight. */
  stop(): Promise<void>;
  /** How long that may take: an orphan has nobody who would kill it. */
  readonly graceMs: number;
}

/**
 * The life of a worker, gateway or sandbox process: start, say that it is ready, serve until it is asked to end, finish
 * what is in flight.
 */
export async function runProcess(logger: Logger, start: () => Promise<RunningService>): Promise<ExitCode> {
  const asked = askedToEnd();
  endOnBugs(logger);
  let service: RunningService;
  try {
    service = await start();
  } catch (error) {
    const explained = explainError(error);
    tellParent({ kind: 'refused', sentence: explained?.sentence ?? 'It failed at its start.' });
    if (explained === undefined) logger.fatal({ error: errorForLog(error) }, 'failed at its start');
    throw error;
  }
  tellParent({ kind: 'ready', ...(service.url === undefined ? {} : { url: service.url }) });
  logger.info('ready');

  const byItself = (service.ended ?? new Promise<void>(() => undefined)).then(
    () => undefined,
    (error: unknown) => logger.error({ error: errorForLog(error) }, 'ended badly'),
  );
  const why = await Promise.race([asked, byItself]);
  if (why !== undefined) logger.info({ why }, 'ending');
  setTimeout(() => process.exit(EXIT.refused), service.graceMs).unref();
  await service.stop().catch((error: unknown) => logger.error({ error: errorForLog(error) }, 'did not end well'));
  logger.info('ended');
  return why === undefined ? EXIT.refused : EXIT.done;
}

/** Node would print the raw error, with whatever it carries, into our log. */
function endOnBugs(logger: Logger): void {
  process.on('uncaughtException', (error) => {
    logger.fatal({ error: errorForLog(error) }, 'a bug: ending');
    process.exit(EXIT.refused);
  });
}

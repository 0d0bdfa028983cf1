import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../config/index.js';
import { STATE_ATTRIBUTE } from '../../flows/vocabulary.js';
import { ensureCacheFolder } from '../../temporal/cache.js';
import { startDevServer, type DevServer } from '../../temporal/dev-server.js';
import { withFileLock } from '../../temporal/file-lock.js';
import { findServer } from '../../temporal/find-server.js';
import type { SearchAttributes } from '../../temporal/search-attributes.js';
import type { Home } from '../wiring/home.js';

export const SEARCH_ATTRIBUTES: SearchAttributes = { [STATE_ATTRIBUTE]: 'Keyword' };

/** The Temporal server that our processes use. */
export interface TemporalServer {
  /** What their environment has in the place of every `TEMPORAL_*` variable of ours. */
  readonly environment: Environment;
  /** Undefined where the server is not ours. */
  pid(): number | undefined;
  /** Ends a server of ours. */
  stop(): Promise<void>;
}

export interface TemporalServerOptions {
  readonly env: Environment;
  readonly home: Home;
  /** Where the UI decodes payloads. */
  readonly codecEndpoint: string;
  readonly say: (line: string) => void;
}

const RESTART_DELAY_MS = 1_000;

/**
 * The server of `TEMPORAL_ADDRESS`, or a dev server of our own with its state in the home, which is kept running.
 * @throws NoTemporalServerError, DevServerError
 */
export async function provideTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  const { env, home, codecEndpoint, say } = options;
  const found = await findServer({ env, log: say });
  if (found.kind === 'address') return { environment: env, pid: () => undefined, stop: () => Promise.resolve() };

  const fixed = {
    executable: found.path,
    home: home.logs,
    dbFile: home.temporal,
    searchAttributes: SEARCH_ATTRIBUTES,
    codecEndpoint,
    log: say,
  };
  // One at a time on this machine: two that look for a free port at once find the same one.
  const turn = join(await ensureCacheFolder(env), 'dev-server.lock');
  let server = await withFileLock(turn, () => startDevServer(fixed));
  const stopping = new AbortController();
  const { address, uiUrl } = server;
  const same = { port: portIn(address), ...(uiUrl === undefined ? {} : { uiPort: portIn(uiUrl) }) };
  const over = keepRunning();

  async function keepRunning(): Promise<void> {
    for (;;) {
      const how = await server.ended;
      if (stopping.signal.aborted) return;
      say(`the Temporal server (process ${server.pid}) ended unexpectedly (${how}): starting it again`);
      const again = await startAgain();
      if (again === undefined) return;
      server = again;
      say(`the Temporal server runs again, as process ${server.pid}`);
    }
  }

  /** On the same ports, since everybody knows it by them. */
  async function startAgain(): Promise<DevServer | undefined> {
    while (!stopping.signal.aborted) {
      try {
        return await startDevServer({ ...fixed, ...same });
      } catch (error) {
        say((error as Error).message);
        await sleep(RESTART_DELAY_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
      }
    }
    return undefined;
  }

  return {
    environment: { ...env, ...emptied(env), ...ownServer(address, uiUrl) },
    pid: () => server.pid,
    async stop() {
      stopping.abort();
      await server.stop();
      await over;
    },
  };
}

/**
 * A namespace, TLS or an API key that is set for another server does not fit ours. Empty and not removed: a process of
 * ours would take a removed one from the `.env` file again.
 */
function emptied(env: Environment): Environment {
  return Object.fromEntries(Object.keys(env).flatMap((name) => (name.startsWith('TEMPORAL_') ? [[name, '']] : [])));
}

function ownServer(address: string, uiUrl: string | undefined): Environment {
  return {
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: 'default',
    ...(uiUrl === undefined ? {} : { TEMPORAL_UI_URL: uiUrl }),
  };
}

function portIn(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

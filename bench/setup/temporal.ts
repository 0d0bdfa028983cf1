import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';
import { startDevServer, type DevServer } from '../../src/dev-server/dev-server.js';
import { findServerExecutable } from '../../src/dev-server/find-server.js';
import { join } from 'node:path';

export type TemporalServer = Pick<DevServer, 'address' | 'pid' | 'stop'>;

/** A Temporal server for one benchmark, with the settings of `npm start`. */
export async function startTemporal(folder: string, log: (line: string) => void): Promise<DevServer> {
  const { path } = await findServerExecutable({ env: process.env, log });
  return startDevServer({
    executable: path,
    home: folder,
    port: 0,
    uiPort: false,
    dbFile: join(folder, 'temporal.db'),
    searchAttributes: SEARCH_ATTRIBUTES,
    log,
  });
}

/**
 * The same server on one core at a time. It has machines of its own in a deployment; here, its threads in turn take both
 * cores, and what the gateway's requests wait for is then a core.
 */
export async function startTemporalOnOneCore(folder: string, log: (line: string) => void): Promise<DevServer> {
  process.env['GOMAXPROCS'] = '1';
  try {
    return await startTemporal(folder, log);
  } finally {
    delete process.env['GOMAXPROCS'];
  }
}

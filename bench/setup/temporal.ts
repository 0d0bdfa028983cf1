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

import { startClusterServers, stopTestServers } from './test-servers.js';

/** A real Temporal server on Postgres, and the workflow bundle. */
export default async function setup(): Promise<() => Promise<void>> {
  await startClusterServers();
  return stopTestServers;
}

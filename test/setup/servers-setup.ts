import { startServers, stopTestServers } from './test-servers.js';

/** Postgres, Temporal's dev server and the workflow bundle. */
export default async function setup(): Promise<() => Promise<void>> {
  await startServers();
  return stopTestServers;
}

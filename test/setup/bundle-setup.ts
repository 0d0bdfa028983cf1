import { prepareBundle, stopTestServers } from './test-servers.js';

/** The workflow bundle alone. */
export default async function setup(): Promise<() => Promise<void>> {
  await prepareBundle();
  return stopTestServers;
}

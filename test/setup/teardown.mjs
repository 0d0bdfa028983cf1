import '../../tools/typescript.mjs';

/** Every project with a setup comes here: the first one stops everything, once all tests are done. */
export default async function teardown() {
  // The same module instance that the setup has loaded.
  const { stopTestServers } = await import('./test-servers.ts');
  await stopTestServers();
}

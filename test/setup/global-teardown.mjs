export default async function globalTeardown() {
  // The same module instance that the global setup has loaded.
  const { stopTestServers } = await import('./test-servers.ts');
  await stopTestServers();
}

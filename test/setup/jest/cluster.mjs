import '../../../tools/typescript.mjs';

/** Jest's `globalSetup`. */
export default async function setUp() {
  const { default: printSeed } = await import('../property-seed.ts');
  const { default: start } = await import('../cluster-setup.ts');
  printSeed();
  globalThis.towlineStopTestServers = await start();
}

import '../../tools/typescript.mjs';

export default async function setup() {
  const { startPostgres } = await import('./test-servers.ts');
  await startPostgres();
}

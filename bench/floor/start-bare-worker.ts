import { fileURLToPath } from 'node:url';
import { startChild, type Child } from '../setup/child.js';

const PROGRAM = fileURLToPath(new URL('./bare-worker.ts', import.meta.url));
const LOADER = new URL('../../tools/typescript.mjs', import.meta.url).href;

export const BARE_QUEUE = 'bare';

export function startBareWorker(temporalAddress: string): Promise<Child> {
  return startChild(PROGRAM, {
    execArgv: ['--no-warnings', '--import', LOADER],
    env: { TEMPORAL_ADDRESS: temporalAddress },
    folder: fileURLToPath(new URL('../..', import.meta.url)),
  });
}

// `node --import ./tools/typescript.mjs file.ts`: runs our TypeScript straight from its sources, without type checks.
// The scripts of tools/ and processes that tests start need it, and development likes it.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);

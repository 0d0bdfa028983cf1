// `node --import ./tools/typescript.mjs file.ts`: runs our TypeScript straight from its sources, without type checks.
// jest's global setup needs it (jest transforms tests, but not what its setup imports), and development likes it.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);

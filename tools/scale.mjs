// `npm run scale`: the capacity model of docs/scale.md, computed.
import './typescript.mjs';

await import('../bench/scale/main.ts');

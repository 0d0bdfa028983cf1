// `towline worker` as it would start without a prebuilt bundle: webpack first, then its usual work.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const dist = process.env.BENCH_DIST;
const load = (...path) => import(pathToFileURL(join(dist, ...path)).href);
const { bundleWorkflows } = await load('src', 'temporal', 'workflow-bundle.js');
await bundleWorkflows(join(dist, 'workflows', 'index.js'), join(process.env.TOWLINE_HOME, 'bundled-at-start.js'));
process.argv = [process.execPath, join(dist, 'src', 'cli', 'main.js'), 'worker'];
await load('src', 'cli', 'main.js');

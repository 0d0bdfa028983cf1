/** A worker of the naive flow, in a process of its own. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import * as activities from './naive-activities.js';

const logger = new DefaultLogger('ERROR');
Runtime.install({ logger });
const workflowsPath = fileURLToPath(new URL('./naive-flow.ts', import.meta.url));
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' }),
  taskQueue: 'naive',
  activities,
  workflowBundle: await bundleWorkflowCode({ workflowsPath, logger }),
  workflowTaskPollerBehavior: { type: 'autoscaling' },
  activityTaskPollerBehavior: { type: 'autoscaling' },
});
const running = worker.run();
process.once('SIGTERM', () => worker.shutdown());
process.once('disconnect', () => worker.shutdown());
process.send?.({ kind: 'ready' });
await running;
process.exit(0);

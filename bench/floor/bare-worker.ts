/** A worker of the bare flow, in a process of its own. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import * as activities from './bare-activities.js';

const logger = new DefaultLogger('ERROR');
Runtime.install({ logger });
const workflowsPath = fileURLToPath(new URL('./bare-flow.ts', import.meta.url));
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' }),
  taskQueue: 'bare',
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

import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkflowBundle,
} from '@temporalio/worker';
import { createDataConverter, failureConverterPath } from '../../../src/temporal/payload-data-converter.js';
import { keyring } from './gateway-under-test.js';

const workflowsPath = fileURLToPath(new URL('../workflows/probe-flow.ts', import.meta.url));

let bundle: Promise<WorkflowBundle> | undefined;
let quiet = false;

export interface ProbeWorker {
  stop(): Promise<void>;
}

/** A worker that runs the probe flow on one task queue. */
export async function startProbeWorker(
  taskQueue: string,
  address = process.env['TEST_TEMPORAL_ADDRESS'],
): Promise<ProbeWorker> {
  const logger = new DefaultLogger('ERROR');
  if (!quiet) Runtime.install({ logger });
  quiet = true;
  bundle ??= bundleWorkflowCode({ workflowsPath, logger, failureConverterPath });
  const connection = await NativeConnection.connect(address === undefined ? {} : { address });
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await bundle,
    dataConverter: createDataConverter({ keyring, namespace: 'default' }),
  });
  const running = worker.run();
  return {
    async stop() {
      worker.shutdown();
      await running;
      await connection.close();
    },
  };
}

import type { Command } from 'commander';
import type { Settings } from '../../config/index.js';
import { QUEUES, type Queue } from '../../protocol/task-queues.js';
import { installRuntime } from '../../temporal/sdk-logger.js';
import { type RunningWorker, startWorker } from '../../temporal/worker.js';
import { createWorkerMetrics } from '../../temporal/worker-metrics.js';
import { queuesArgument } from '../arguments.js';
import { CliError, EXIT, type ExitCode } from '../exit-codes.js';
import type { CliContext, RunCommand } from '../context.js';
import { graceMsOf, runProcess } from '../run-process.js';
import {
  activityDeps,
  moneyOperations,
  followSecretsOf,
  openService,
  createProcessLogger,
} from '../wiring/dependencies.js';
import { untilBound } from '../wiring/deployment.js';
import { openWorkerProbe } from '../probes.js';
import { openNotifier } from '../wiring/notifier.js';
import { loadSettings } from '../wiring/load-settings.js';
import { openServices } from '../wiring/services.js';
import { temporalAddress } from '../wiring/temporal.js';
import { openTracing } from '../wiring/tracing.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('worker')
    .description('Runs one worker process. Any number of them may run against one Temporal namespace.')
    .option(
      '--queues <names>',
      `only these, comma-separated: ${QUEUES.join(', ')} (default: all)`,
      queuesArgument,
      QUEUES,
    )
    .addHelpText('after', '\nExample:\n  TEMPORAL_ADDRESS=127.0.0.1:7233 towline worker --queues money,lookups')
    .action((options: { readonly queues: readonly Queue[] }) => run(() => runWorker(context, options.queues)));
}

async function runWorker({ env, isTerminal }: CliContext, queues: readonly Queue[]): Promise<ExitCode> {
  const loaded = await loadSettings(env);
  const { settings } = loaded;
  const log = createProcessLogger('worker', settings, isTerminal);
  return runProcess(log, async (toEnd) => {
    const onUndecodable = (reason: string) => log.warn({ reason }, 'a payload cannot be decrypted');
    const services = await openServices(loaded, 'worker', onUndecodable);
    const { store, identity, deployment } = services;
    const { client, namespace, dataConverter } = services.temporal;
    const secrets = followSecretsOf(settings, log);
    const tracing = await openTracing(settings, secrets, 'towline-worker', namespace);
    let worker: RunningWorker | undefined;
    const { workerProbePort: port, workerProbeHost: host } = settings;
    // Before anything is waited for: a worker that waits for Temporal is alive, and not ready.
    const probe =
      port === undefined
        ? undefined
        : await openWorkerProbe({
            host,
            port,
            store: () => store.check(),
            isPolling: () => worker?.isPolling() ?? false,
            client,
          });
    await untilBound(client, deployment, { toEnd, log });
    // Not earlier: the SDK's runtime keeps a process alive until its last worker ends, and a refused worker has none.
    const { workerMetricsHost, workerMetricsPort } = settings;
    const endpoint = workerMetricsPort === undefined ? undefined : { host: workerMetricsHost, port: workerMetricsPort };
    const metrics = createWorkerMetrics(installRuntime(log, endpoint), moneyOperations);
    const service = openService(settings, secrets, metrics);
    const running = await startWorker({
      variables: settings.temporal,
      namespace,
      dataConverter,
      activities: activityDeps({ settings, store, service, secrets, log, metrics }),
      log,
      identity,
      queues,
      slots: settings.workerSlots,
      moneyPerSecond: settings.moneyPerSecond,
      buildId: settings.workerBuildId,
    }).catch((cause: unknown) => {
      throw isUnreachable(cause) ? away(settings) : cause;
    });
    worker = running;
    const notifier = openNotifier({ settings, store, client, namespace, secrets, log });
    notifier?.start();
    return {
      ...(probe === undefined ? {} : { url: probe.url }),
      ended: Promise.race([running.ended, store.lost]),
      graceMs: graceMsOf('worker', settings),
      async stop() {
        probe?.drain();
        await running.shutdown();
        await notifier?.stop();
        service.close();
        await services.close();
        await tracing.close();
        await probe?.close();
      },
    };
  });
}

/** The SDK's native connection fails with its own error class, whose message may hold a whole address with its key. */
function isUnreachable(cause: unknown): boolean {
  return cause instanceof Error && /TransportError|ConnectError/.test(cause.name);
}

function away(settings: Settings): CliError {
  const address = temporalAddress(settings);
  return new CliError(`Temporal at ${address} cannot be reached: start it, or set TEMPORAL_ADDRESS.`, EXIT.unreachable);
}

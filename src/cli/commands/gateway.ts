import type { Command } from 'commander';
import type { Logger } from 'pino';
import type { WorkMetrics } from '../../protocol/metrics.js';
import { createWorkMetrics, startGateway, type ServeCards } from '../../gateway/index.js';
import type { LiveSecrets } from '../../config/index.js';
import { startCardWorker } from '../../temporal/worker.js';
import type { CliContext, RunCommand } from '../context.js';
import { CliError, type ExitCode } from '../exit-codes.js';
import { graceMsOf, runProcess } from '../run-process.js';
import { watchBinding } from '../wiring/deployment.js';
import {
  openServiceAccess,
  activityDeps,
  openService,
  createProcessLogger,
  followSecretsOf,
} from '../wiring/dependencies.js';
import { openNotifier } from '../wiring/notifier.js';
import { loadSettings } from '../wiring/load-settings.js';
import { openServices, type Services } from '../wiring/services.js';
import { uiUrlOf } from '../wiring/temporal.js';
import { openTracing } from '../wiring/tracing.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('gateway')
    .description(
      'Runs one gateway process: on GATEWAY_PORT for backends and people, on INBOUND_PORT for webhooks, which it takes while Temporal is down.',
    )
    .addHelpText('after', '\nExample:\n  GATEWAY_PORT=8400 TEMPORAL_ADDRESS=127.0.0.1:7233 towline gateway')
    .action(() => run(() => runGateway(context)));
}

async function runGateway({ env, isTerminal }: CliContext): Promise<ExitCode> {
  const loaded = await loadSettings(env);
  const { settings } = loaded;
  if (settings.gatewayTokens.length === 0 && settings.oidc === undefined) {
    throw new CliError(
      'GATEWAY_TOKENS is missing: outside of development there is no default token. Write name:role:secret, with a secret of ' +
        'at least 22 random characters; or set OIDC_ISSUER, or DEVELOPMENT=true if all of this is on this machine.',
    );
  }
  if (!settings.development && settings.inboundPort === undefined) {
    throw new CliError(
      'INBOUND_PORT is missing: outside of development, webhooks and callbacks come to a listener of their own (INBOUND_HOST, ' +
        'INBOUND_PORT, to which PUBLIC_URL leads), and GATEWAY_PORT is for backends and people alone.',
    );
  }
  const logger = createProcessLogger('gateway', settings, isTerminal);
  return runProcess(logger, async () => {
    const secrets = followSecretsOf(settings, logger);
    const onUndecodable = (reason: string) => logger.warn({ reason }, 'a payload cannot be decrypted');
    const services = await openServices(loaded, 'gateway', onUndecodable);
    const { store, deployment } = services;
    const { client, codec, namespace } = services.temporal;
    const tracing = await openTracing(settings, secrets, 'towline-gateway', namespace);
    const binding = await watchBinding(client, deployment, logger);
    const metrics = createWorkMetrics();
    const serveCards = serveCardsBy({ services, secrets, logger, metrics });
    const ui = uiUrlOf(settings);
    const uiOrigin = ui === undefined ? {} : { uiOrigin: new URL(ui).origin };
    const service = openServiceAccess(settings, secrets, metrics);
    const gateway = await startGateway({
      settings,
      store,
      client,
      codec,
      logger,
      serveCards,
      service,
      workMetrics: metrics.register,
      ...uiOrigin,
    });
    const notifier = openNotifier({ settings, store, client, namespace, secrets, log: logger });
    notifier?.start();
    return {
      url: gateway.url,
      ended: Promise.race([binding.ended, store.lost]),
      graceMs: graceMsOf('gateway', settings),
      async stop() {
        binding.stop();
        await Promise.all([notifier?.stop(), gateway.close()]);
        service.client.close();
        await services.close();
        await tracing.close();
      },
    };
  });
}

/** The worker that sends the cards of one gateway, with its own service client. */
function serveCardsBy(parts: {
  readonly services: Services;
  readonly secrets: LiveSecrets;
  readonly logger: Logger;
  readonly metrics: WorkMetrics;
}): ServeCards {
  const { secrets, logger: log, metrics } = parts;
  const { settings, store, temporal, identity } = parts.services;
  return async (cards) => {
    const service = openService(settings, secrets, metrics);
    const worker = await startCardWorker({
      variables: settings.temporal,
      namespace: temporal.namespace,
      dataConverter: temporal.dataConverter,
      activities: activityDeps({ settings, store, service, secrets, log, metrics }),
      log,
      identity: `${identity}-cards`,
      cards,
    }).catch((error: unknown) => {
      service.close();
      throw error;
    });
    const ended = worker.ended.finally(() => service.close());
    ended.catch(() => undefined);
    return { ended, shutdown: () => worker.shutdown() };
  };
}

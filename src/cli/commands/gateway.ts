import type { Command } from 'commander';
import { startGateway } from '../../gateway/index.js';
import type { CliContext } from '../context.js';
import type { ExitCode } from '../exit-codes.js';
import { graceMsOf } from '../process/process-name.js';
import { runProcess } from '../process/run-process.js';
import { watchBinding } from '../wiring/deployment.js';
import { loadKeyring } from '../wiring/keyring.js';
import { loadSettings } from '../wiring/load-settings.js';
import { createProcessLogger } from '../wiring/logger.js';
import { serveCardsBy } from '../wiring/serve-cards.js';
import { openConfiguredStore } from '../wiring/store.js';
import { uiUrlOf } from '../wiring/temporal-ui.js';
import { openServiceAccess } from '../wiring/service.js';
import { identityOf, openTemporal } from '../wiring/temporal.js';
import type { RunCommand } from '../run-command.js';

export function addGatewayCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('gateway')
    .summary('run a gateway: webhooks in, flow operations, codec server')
    .description('Runs one gateway process on GATEWAY_HOST and GATEWAY_PORT. It takes webhooks while Temporal is down.')
    .addHelpText('after', '\nExample:\n  GATEWAY_PORT=8400 TEMPORAL_ADDRESS=127.0.0.1:7233 towline gateway')
    .action(() => run(() => runGateway(context)));
}

async function runGateway({ env, isTerminal }: CliContext): Promise<ExitCode> {
  const { settings, home } = await loadSettings(env);
  const logger = createProcessLogger('gateway', settings, isTerminal);
  return runProcess(logger, async () => {
    const keyring = await loadKeyring(settings);
    const store = await openConfiguredStore(settings, home, keyring);
    const onUndecodable = (reason: string) => logger.warn({ reason }, 'a payload cannot be decrypted');
    const identity = identityOf('gateway', process.pid);
    const temporal = openTemporal({ settings, keyring, identity, onUndecodable });
    const { client, codec, close } = temporal;
    const given = { store, namespace: temporal.namespace, account: settings.serviceAccount };
    const binding = await watchBinding(client, given, logger);
    const serveCards = serveCardsBy({ settings, store, temporal, identity, logger });
    const ui = uiUrlOf(settings);
    const uiOrigin = ui === undefined ? {} : { uiOrigin: new URL(ui).origin };
    const service = openServiceAccess(settings);
    const gateway = await startGateway({ settings, store, client, codec, logger, serveCards, service, ...uiOrigin });
    return {
      url: gateway.url,
      ended: binding.ended,
      graceMs: graceMsOf('gateway', settings),
      async stop() {
        binding.stop();
        await gateway.close();
        service.client.close();
        await close();
        await store.close();
      },
    };
  });
}

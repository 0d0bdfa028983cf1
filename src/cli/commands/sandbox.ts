import type { Command } from 'commander';
import { reportSettlement } from '../../contract/bridge.js';
import { startSandbox } from '../../sandbox/sandbox.js';
import { CliError, type ExitCode } from '../exit-codes.js';
import type { CliContext, RunCommand } from '../context.js';
import { graceMsOf, runProcess } from '../run-process.js';
import { loadSettings } from '../wiring/load-settings.js';
import { createProcessLogger } from '../wiring/dependencies.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('sandbox')
    .description('Runs the sandbox on SANDBOX_HOST and SANDBOX_PORT. GET /_sandbox lists what can be controlled.')
    .addHelpText('after', '\nExample:\n  SANDBOX_PORT=8401 towline sandbox')
    .action(() => run(() => runSandbox(context)));
}

async function runSandbox({ env, isTerminal }: CliContext): Promise<ExitCode> {
  const { settings, home } = await loadSettings(env);
  const logger = createProcessLogger('sandbox', settings, isTerminal);
  const { sandboxHost: host, sandboxPort: port, serviceToken: token } = settings;
  const [settlementSecret] = settings.settlementSecrets;
  const callbackSecret = settings.webhookSecrets.find((secret) => secret.startsWith('whsec_'));
  return runProcess(logger, async () => {
    const sandbox = await startSandbox({
      host,
      port,
      dbPath: home.sandbox,
      settlementUrl: settings.publicUrl + reportSettlement.path,
      logger,
      token,
      ...(settlementSecret === undefined ? {} : { settlementSecret }),
      ...(callbackSecret === undefined ? {} : { callbackSecret }),
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') throw error;
      throw new CliError(sandboxPortTaken(port, host));
    });
    return { url: sandbox.url, graceMs: graceMsOf('sandbox', settings), stop: () => sandbox.close() };
  });
}

export function sandboxPortTaken(port: number, host: string): string {
  return `Port ${port} on ${host} is taken: stop what listens there, or set SANDBOX_PORT to another port.`;
}

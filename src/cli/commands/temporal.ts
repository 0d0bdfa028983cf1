import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Command } from 'commander';
import { type Environment, readSecretFiles } from '../../config/index.js';
import { findServerExecutable } from '../../dev-server/find-server.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { loadSettings } from '../wiring/load-settings.js';
import { temporalAddress } from '../wiring/temporal.js';

export function addTemporalCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('temporal')
    .summary('run the Temporal CLI that Towline uses')
    .description(
      "Runs Temporal's own command line, the one that `towline up` found or built, against the Temporal server of the " +
        'settings. Everything after `temporal` is handed to it as it is.',
    )
    .argument('[arguments...]', "Temporal's own command and options")
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText('after', '\nExample:\n  towline temporal workflow list --limit 5')
    .action((args: readonly string[]) => run(() => runTemporal(context, args)));
}

/** Exit code 0, or `refused` for everything else. */
async function runTemporal({ env, err }: CliContext, args: readonly string[]): Promise<ExitCode> {
  const { settings } = await loadSettings(env);
  const { path } = await findServerExecutable({ env, log: err });
  const child = spawn(path, args, {
    stdio: 'inherit',
    env: { ...env, ...apiKeyOf(env), TEMPORAL_ADDRESS: env['TEMPORAL_ADDRESS'] ?? temporalAddress(settings) },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0 ? EXIT.done : EXIT.refused;
}

/** The only secret of ours that Temporal's command line needs, if a file has it: our others are not handed to it. */
function apiKeyOf({ TEMPORAL_API_KEY, TEMPORAL_API_KEY_FILE }: Environment): Environment {
  return readSecretFiles({ TEMPORAL_API_KEY, TEMPORAL_API_KEY_FILE }).env;
}

import type { Command } from 'commander';
import type { CliContext, RunCommand } from '../context.js';
import { examine } from '../doctor/examine.js';
import type { Finding } from '../doctor/finding.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { print, type PrintOptions } from '../print.js';
import { loadSettings } from '../wiring/load-settings.js';

interface Options extends PrintOptions {
  readonly showSecrets?: boolean;
}

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('doctor')
    .description(
      'Checks settings, store, Temporal, the service with its token, and the clocks, and explains the settings that ' +
        'only the service and the settlement provider can answer. It moves no money.',
    )
    .option('--show-secrets', 'also print the URLs for the settlement provider and the service, which are secrets')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  SERVICE_BASE_URL=https://service.example towline doctor')
    .action(({ showSecrets = false, ...options }: Options) =>
      run(async () => {
        const findings = await examine(await loadSettings(context.env), { showSecrets });
        print(context, options, { findings }, () => findings.map((finding) => line(context, finding)).join('\n'));
        return worst(findings);
      }),
    );
}

function line({ colors }: CliContext, { verdict, about, sentence }: Finding): string {
  const mark = { good: colors.green('✓'), note: colors.yellow('!'), bad: colors.red('✗') }[verdict];
  return `${mark} ${colors.bold(about)}: ${sentence}`;
}

/** A problem that can be fixed here outranks one that only says that something cannot be reached. */
function worst(findings: readonly Finding[]): ExitCode {
  const codes = findings.flatMap(({ exitCode }) => exitCode ?? []);
  return codes.includes(EXIT.refused) ? EXIT.refused : (codes[0] ?? EXIT.done);
}

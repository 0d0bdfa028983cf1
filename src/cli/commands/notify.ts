import type { Command } from 'commander';
import { followSecrets } from '../../config/index.js';
import { noticeOf, pageAt, postNotice, postTo } from '../../notify/index.js';
import { namespaceOf } from '../../temporal/connection.js';
import { CliError, EXIT, type ExitCode } from '../exit-codes.js';
import type { CliContext, RunCommand } from '../context.js';
import { print, type PrintOptions } from '../print.js';
import { loadSettings } from '../wiring/load-settings.js';
import { placesOf } from '../wiring/notifier.js';
import { systemClock } from '../../clock.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  program
    .command('notify')
    .description(
      'Sends one test notification to each of NOTIFY_URLS, and one heartbeat to HEARTBEAT_URL, as gateways and workers ' +
        'with these settings would, and says who took it.',
    )
    .requiredOption('--test', 'send the test')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  NOTIFY_URLS=slack:https://hooks.slack.com/services/… towline notify --test')
    .action((options: PrintOptions) => run(() => sendTests(context, options)));
}

interface Tested {
  readonly to: string;
  /** Null: the receiver accepted it. */
  readonly problem: string | null;
}

async function sendTests(context: CliContext, options: PrintOptions): Promise<ExitCode> {
  const { settings } = await loadSettings(context.env);
  const { notifyTargets, heartbeatUrl } = settings;
  if (notifyTargets.length === 0 && heartbeatUrl === undefined) {
    throw new CliError(
      'NOTIFY_URLS and HEARTBEAT_URL are not set: there is no receiver to notify. See docs/settings.md.',
    );
  }
  const secrets = followSecrets(settings, { onBroken: (problem) => context.err(problem) });
  const nowMs = systemClock.nowMs();
  const since = new Date(nowMs).toISOString();
  const content = { kind: 'parked', since, reason: 'test' } as const;
  const places = placesOf(settings, namespaceOf(settings.temporal));
  const notice = {
    ...noticeOf({ id: `test/${since}`, content }, { event: 'test', level: 0 }, places),
    sentence: 'This is a test of Towline. Nothing is wrong, and nothing is left to do.',
    runbook: pageAt(places, 'docs/monitoring.md#notifications'),
  };
  const tested = await Promise.all([
    ...notifyTargets.map(async (target): Promise<Tested> => {
      const problem = await postNotice(target, [notice], { secrets: () => secrets.notifySecrets(), nowMs });
      return { to: `${target.format} at ${new URL(target.url).origin}`, problem: problem ?? null };
    }),
    ...(heartbeatUrl === undefined ? [] : [beat(heartbeatUrl, since)]),
  ]);
  print(context, options, { tested }, () => tested.map((one) => line(context, one)).join('\n'));
  return tested.every(({ problem }) => problem === null) ? EXIT.done : EXIT.refused;
}

async function beat(url: string, at: string): Promise<Tested> {
  const body = JSON.stringify({ type: 'heartbeat', status: 'ok', at, isTest: true });
  const problem = await postTo(url, { 'content-type': 'application/json', 'user-agent': 'towline' }, body);
  return { to: `heartbeat at ${new URL(url).origin}`, problem: problem ?? null };
}

const line = ({ colors }: CliContext, { to, problem }: Tested): string =>
  problem === null ? `${colors.green('✓')} ${to}: taken` : `${colors.red('✗')} ${to}: ${problem}`;

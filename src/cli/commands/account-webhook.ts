import type { Command } from 'commander';
import { keptSecretsPath } from '../../config/index.js';
import { asJson, callAccount, accountSettings, OUT, STDOUT } from '../account/account-call.js';
import { type AnswerOptions, readInputJson } from '../account/answer-place.js';
import { changeSecret, checkWebhookUpdate, newWebhookSecret } from '../account/webhook-secret.js';
import { numberArgument } from '../arguments.js';
import { CliError, EXIT } from '../exit-codes.js';
import type { CliContext, RunCommand } from '../context.js';
import { systemClock } from '../../clock.js';

interface Options extends AnswerOptions {
  readonly rotate?: boolean;
  readonly overlap: number;
}

const HOUR_MS = 3_600_000;
/** The service tries a delivery again for 24 hours, and may have signed it when it first did. */
const OVERLAP_HOURS = 48;
const MOST_OVERLAP_HOURS = 24 * 30;

const CHECK =
  'Look at the webhook settings of the account at the service, or repeat the command, which is safe. If a secret was ' +
  'sent, gateways take the old and the new one until a change of it succeeds.';

export function addAccountWebhookCommand(account: Command, run: RunCommand, context: CliContext): void {
  account
    .command('webhook')
    .summary('set the address of webhooks, which ones are sent, and the secret that signs them')
    .description(
      'Changes webhook_url, webhook_secret and webhook_events, those that the file has. A new secret is taken by the ' +
        'gateways of this TOWLINE_HOME before the service has it, without a restart, and the old ones for a while after, ' +
        'even if they stay in WEBHOOK_SECRETS. Gateways with other homes do not see that: put the new secret into ' +
        'their WEBHOOK_SECRETS first, restart them, and then send it from a file.',
    )
    .argument('[file]', 'JSON file with the changes; - for stdin')
    .option('--rotate', 'make a new secret and send it')
    .option(
      '--overlap <hours>',
      'how long the old secrets count on',
      numberArgument(0, MOST_OVERLAP_HOURS),
      OVERLAP_HOURS,
    )
    .option(...OUT)
    .option(...STDOUT)
    .addHelpText(
      'after',
      '\nExamples:\n  towline account webhook --rotate\n  echo \'{"webhook_events": ["payment.confirmed"]}\' | towline account webhook -',
    )
    .action((file: string | undefined, options: Options) =>
      run(async () => {
        const { settings } = await accountSettings(context.env, 'token');
        const body = await changesOf(context, file, options.rotate === true);
        const { webhook_secret: secret } = body;
        const change = {
          path: keptSecretsPath(settings.towlineHome),
          fromSetting: settings.webhookSecrets,
          overlapMs: options.overlap * HOUR_MS,
          nowMs: systemClock.nowMs,
        };
        await callAccount(context, {
          settings,
          options,
          name: 'webhook',
          what: secret === undefined ? 'The account' : 'The account, with its new webhook secret,',
          check: CHECK,
          call: (service, options) =>
            secret === undefined
              ? service.updateWebhook(body, options)
              : changeSecret({ ...change, secret }, () => service.updateWebhook(body, options)),
          text: (answer) => asJson(secret === undefined ? answer : { ...answer, webhook_secret: secret }),
        });
        if (secret !== undefined) context.err(afterChange(options.overlap));
        return EXIT.done;
      }),
    );
}

async function changesOf(context: CliContext, file: string | undefined, rotate: boolean) {
  if (file === undefined && !rotate) throw new CliError('Name a file with the changes, or use --rotate.');
  const given = checkWebhookUpdate(file === undefined ? {} : await readInputJson(context, file));
  if (!rotate) {
    if (Object.keys(given).length > 0) return given;
    throw new CliError(
      'The file changes nothing: give webhook_url, webhook_secret or webhook_events. Nothing was sent.',
    );
  }
  if (given.webhook_secret === undefined) return { ...given, webhook_secret: newWebhookSecret() };
  throw new CliError('--rotate makes the secret itself: leave webhook_secret out of the file. Nothing was sent.');
}

function afterChange(overlapHours: number): string {
  return (
    `Gateways of this TOWLINE_HOME take the new secret from now on, and the old ones for ${overlapHours} more hours. ` +
    'At your next deployment put the new one into WEBHOOK_SECRETS, in the place of the old ones.'
  );
}

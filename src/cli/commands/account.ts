import type { Command } from 'commander';
import { keptSecretsPath } from '../../config/index.js';
import type { CliContext, RunCommand } from '../context.js';
import { callAccount, accountSettings, OUT, STDOUT, asJson } from '../account/account-call.js';
import { type AnswerOptions, readInputJson, parsed, readInputText } from '../account/answer-place.js';
import { CliError, EXIT } from '../exit-codes.js';
import { changeSecret, checkIntegrator, checkWebhookUpdate, newWebhookSecret } from '../account/webhook-secret.js';
import { numberArgument } from '../arguments.js';
import { systemClock } from '../../clock.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  const account = program
    .command('account')
    .description(
      'Operations on the account at the service, each tried once. Answers hold secrets: they go to a file that only you ' +
        'can read. The exit code 3 says that the outcome is unknown; the sentence with it says what to look at.',
    )
    .addHelpText('after', '\nExample:\n  towline account api-key --out service-token');
  for (const add of [
    addAccountCreateCommand,
    addAccountVerifyCommand,
    addAccountApiKeyCommand,
    addAccountWebhookCommand,
  ]) {
    add(account, run, context);
  }
}

const CHECK_KEY =
  'There may be a key that is not in use: look at the keys of the account at the service and revoke the newest, if it is ' +
  'of this minute. Then ask for another one.';

function addAccountApiKeyCommand(account: Command, run: RunCommand, context: CliContext): void {
  account
    .command('api-key')
    .summary('make an API key')
    .description('Makes an API key. The file holds the key alone: it can be given as SERVICE_TOKEN_FILE.')
    .option(...OUT)
    .option(...STDOUT)
    .addHelpText(
      'after',
      '\nExample:\n  towline account api-key --out service-token\n  SERVICE_TOKEN_FILE=service-token towline up',
    )
    .action((options: AnswerOptions) =>
      run(async () => {
        const { settings } = await accountSettings(context.env, 'token');
        await callAccount(context, {
          settings,
          options,
          name: 'api-key',
          what: 'The API key',
          check: CHECK_KEY,
          call: (service, options) => service.createApiKey(undefined, options),
          text: ({ key }) => key,
        });
        return EXIT.done;
      }),
    );
}

const CHECK_CREATED =
  'The account may be there: look for the mail of the service, or ask it, before you create one again with the same email.';

function addAccountCreateCommand(account: Command, run: RunCommand, context: CliContext): void {
  account
    .command('create')
    .summary('create an integrator account')
    .description(
      'Creates an integrator account. The file has: organization, product_name, first_name, last_name, email, phone, ' +
        'country_code, and, if you like, webhook_url, webhook_secret, webhook_events. The gateways of this TOWLINE_HOME ' +
        'take the webhook_secret along.',
    )
    .argument('<file>', 'JSON file with the account; - for stdin')
    .option(...OUT)
    .option(...STDOUT)
    .addHelpText('after', '\nExample:\n  towline account create account.json')
    .action((file: string, options: AnswerOptions) =>
      run(async () => {
        const { settings } = await accountSettings(context.env, 'nothing');
        const body = checkIntegrator(await readInputJson(context, file));
        const { webhook_secret: secret } = body;
        const keeping = <T>(send: () => Promise<T>) =>
          secret === undefined
            ? send()
            : changeSecret(
                {
                  path: keptSecretsPath(settings.towlineHome),
                  secret,
                  fromSetting: settings.webhookSecrets,
                  overlapMs: undefined,
                  nowMs: systemClock.nowMs,
                },
                send,
              );
        await callAccount(context, {
          settings,
          options,
          name: 'integrator',
          what: 'The account',
          check: CHECK_CREATED,
          call: (service, options) => keeping(() => service.createIntegrator(body, options)),
          text: asJson,
        });
        return EXIT.done;
      }),
    );
}

const CHECK_VERIFIED =
  'A verification token may work once: if the service refuses it from now on, ask for a new magic link. Nothing else ' +
  'was changed.';

function addAccountVerifyCommand(account: Command, run: RunCommand, context: CliContext): void {
  account
    .command('verify')
    .summary('complete the human verification of a magic link')
    .description(
      'Completes the human verification of a magic link that the service found suspicious. The answer is a session, ' +
        'whose "token" can be given as SERVICE_TOKEN for an hour, to make an API key.',
    )
    .argument('[file]', 'file with the verification token, alone or as {"verificationToken": …}; - for stdin', '-')
    .option(...OUT)
    .option(...STDOUT)
    .addHelpText('after', '\nExample:\n  towline account verify verification-token.txt --out session.json')
    .action((file: string, options: AnswerOptions) =>
      run(async () => {
        const { settings } = await accountSettings(context.env, 'nothing');
        const body = verificationOf(await readInputText(context, file));
        await callAccount(context, {
          settings,
          options,
          name: 'session',
          what: 'The session',
          check: CHECK_VERIFIED,
          call: (service, options) => service.verifyHuman(body as { verificationToken: string }, options),
          text: asJson,
        });
        return EXIT.done;
      }),
    );
}

/** The client checks it by the contract before anything is sent. */
function verificationOf(text: string): unknown {
  const value = parsed(text);
  return typeof value === 'object' && value !== null ? value : { verificationToken: text.trim() };
}

interface WebhookOptions extends AnswerOptions {
  readonly rotate?: boolean;
  readonly overlap: number;
}

const HOUR_MS = 3_600_000;
/** The service tries a delivery again for 24 hours, and may have signed it when it first did. */
const OVERLAP_HOURS = 48;
const MOST_OVERLAP_HOURS = 24 * 30;

const CHECK_WEBHOOK =
  'Look at the webhook settings of the account at the service, or repeat the command, which is safe. If a secret was ' +
  'sent, gateways take the old and the new one until a change of it succeeds.';

function addAccountWebhookCommand(account: Command, run: RunCommand, context: CliContext): void {
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
    .action((file: string | undefined, options: WebhookOptions) =>
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
          check: CHECK_WEBHOOK,
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

import type { Command } from 'commander';
import { keptSecretsPath } from '../../config/index.js';
import type { CliContext, RunCommand } from '../context.js';
import { callAccount, accountSettings, OUT, STDOUT, asJson } from '../account/account-call.js';
import { type AnswerOptions, readInputJson, parsed, readInputText } from '../account/answer-place.js';
import { EXIT } from '../exit-codes.js';
import { changeSecret, checkIntegrator } from '../account/webhook-secret.js';
import { addAccountWebhookCommand } from './account-webhook.js';
import { systemClock } from '../../clock.js';

export function addAccountCommand(program: Command, run: RunCommand, context: CliContext): void {
  const account = program
    .command('account')
    .summary('the account at the service: create it, verify, make an API key, set its webhooks')
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

import type { Command } from 'commander';
import { asJson, callAccount } from '../account/account-call.js';
import { accountSettings } from '../account/account-settings.js';
import { OUT, STDOUT } from '../account/answer-options.js';
import type { AnswerOptions } from '../account/answer-place.js';
import { changeSecret } from '../account/change-secret.js';
import { checkIntegrator } from '../account/check-integrator.js';
import { readInputJson } from '../account/read-input.js';
import { keptSecretsPath } from '../../config/index.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import type { RunCommand } from '../run-command.js';

const CHECK =
  'The account may be there: look for the mail of the service, or ask it, before you create one again with the same email.';

export function addAccountCreateCommand(account: Command, run: RunCommand, context: CliContext): void {
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
                  nowMs: Date.now,
                },
                send,
              );
        await callAccount(context, {
          settings,
          options,
          name: 'integrator',
          what: 'The account',
          check: CHECK,
          call: (service) => keeping(() => service.createIntegrator(body)),
          text: asJson,
        });
        return EXIT.done;
      }),
    );
}

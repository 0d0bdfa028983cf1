import type { Command } from 'commander';
import { callAccount } from '../account/account-call.js';
import { accountSettings } from '../account/account-settings.js';
import type { AnswerOptions } from '../account/answer-place.js';
import { OUT, STDOUT } from '../account/answer-options.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import type { RunCommand } from '../run-command.js';

const CHECK =
  'There may be a key that nobody has: look at the keys of the account at the service and revoke the newest, if it is ' +
  'of this minute. Then ask for another one.';

export function addAccountApiKeyCommand(account: Command, run: RunCommand, context: CliContext): void {
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
          check: CHECK,
          call: (service) => service.createApiKey(),
          text: ({ key }) => key,
        });
        return EXIT.done;
      }),
    );
}

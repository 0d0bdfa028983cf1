import type { Command } from 'commander';
import { asJson, callAccount } from '../account/account-call.js';
import { accountSettings } from '../account/account-settings.js';
import { OUT, STDOUT } from '../account/answer-options.js';
import type { AnswerOptions } from '../account/answer-place.js';
import { parsed, readInputText } from '../account/read-input.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import type { RunCommand } from '../run-command.js';

const CHECK =
  'A verification token may work once: if the service refuses it from now on, ask for a new magic link. Nothing else ' +
  'was changed.';

export function addAccountVerifyCommand(account: Command, run: RunCommand, context: CliContext): void {
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
          check: CHECK,
          call: (service) => service.verifyHuman(body as { verificationToken: string }),
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

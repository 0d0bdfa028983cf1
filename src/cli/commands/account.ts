import type { Command } from 'commander';
import type { CliContext } from '../context.js';
import type { RunCommand } from '../run-command.js';
import { addAccountApiKeyCommand } from './account-api-key.js';
import { addAccountCreateCommand } from './account-create.js';
import { addAccountVerifyCommand } from './account-verify.js';
import { addAccountWebhookCommand } from './account-webhook.js';

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

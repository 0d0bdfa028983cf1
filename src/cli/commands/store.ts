import { resolve } from 'node:path';
import type { Command } from 'commander';
import { copyFileOfStore } from '../../store/libsql/open.js';
import { StoreUnavailableError } from '../../store/store-errors.js';
import { replaceDeploymentRecord } from '../../temporal/deployment-record.js';
import { CliError, EXIT, type ExitCode } from '../exit-codes.js';
import type { CliContext, RunCommand } from '../context.js';
import { connectGateway, FLOW_ARGUMENT, flowArgument } from '../gateway-client.js';
import { print, type PrintOptions } from '../print.js';
import { refuseOther } from '../wiring/deployment.js';
import { loadSettings } from '../wiring/load-settings.js';
import { withServices } from '../wiring/services.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  const store = program
    .command('store')
    .addHelpText('after', '\nExample:\n  towline store backup /backups/store-2026-11-24.db');
  store
    .command('backup')
    .argument('<file>', 'a new file, which only its owner can read')
    .description(
      'Copies the embedded store of TOWLINE_HOME, as it is at this moment, while gateways and workers go on. A store on ' +
        'Postgres is backed up with the tools of Postgres.',
    )
    .addHelpText('after', '\nExample:\n  towline store backup /backups/store-2026-11-24.db')
    .action((file: string) => run(() => backUp(context, resolve(file))));
  store
    .command('raise-epoch')
    .description(
      'After the store was restored from a backup, with every gateway and worker stopped. What was prepared before and ' +
        'has no claim in the backup is unknown from then on: it is looked up, or parks, and is never sent again by itself.',
    )
    .addHelpText('after', '\nExample:\n  towline store raise-epoch')
    .action(() => run(() => raiseEpoch(context)));
  store
    .command('erase')
    .description(
      'Erases from the store what persons and the service said about a flow that has ended: bodies of its events, answers, ' +
        'notes, and details of the audit log. That it was sent stays, so that it is never sent twice. Its history in ' +
        'Temporal is not changed. Needs a token of an admin.',
    )
    .argument('<flow>', FLOW_ARGUMENT)
    .option('--note <text>', 'why; kept in the audit log')
    .option('--yes', 'do not ask at a terminal')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  towline store erase onramp/order-1001 --note "request 12 of the data subject"')
    .action((flow: string, options: EraseOptions) => run(() => erase(context, flowArgument(flow), options)));
}

interface EraseOptions extends PrintOptions {
  readonly note?: string;
  readonly yes?: true;
}

async function erase(context: CliContext, flowId: string, { note, yes, ...options }: EraseOptions): Promise<ExitCode> {
  const isMeant =
    yes === true || context.confirm === undefined || (await context.confirm(`This cannot be undone. Erase ${flowId}?`));
  if (!isMeant) throw new CliError('Nothing was erased.');
  const erased = await connectGateway(context).erase(flowId, note === undefined ? {} : { note });
  print(context, options, erased, ({ events, claims, entries }) =>
    [
      `${flowId} is erased from the store: ${events} events, ${claims} claims, ${entries} entries of the audit log.`,
      'Temporal keeps its history until the retention of the namespace is over.',
    ].join('\n'),
  );
  return EXIT.done;
}

async function backUp({ env, out }: CliContext, file: string): Promise<ExitCode> {
  const { settings, home } = await loadSettings(env);
  if (settings.databaseUrl !== undefined) {
    throw new CliError('The store is the database of DATABASE_URL: back it up with the tools of Postgres.');
  }
  await copyFileOfStore(home.store, file).catch((error: unknown) => {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new CliError(
      error.code === 'EEXIST'
        ? `${file} exists: name a new file.`
        : `${home.store} cannot be copied to ${file} (${error.code}): check that both can be used, and the disk.`,
    );
  });
  out(`${home.store} is copied to ${file}. It cannot be read without the payload keys: keep them elsewhere.`);
  return EXIT.done;
}

async function raiseEpoch({ env, out }: CliContext): Promise<ExitCode> {
  return withServices(await loadSettings(env), 'store', async ({ store, temporal: { client }, deployment }) => {
    const { namespace, account } = deployment;
    const { id } = await store.deployment.read();
    const record = await refuseOther(client, deployment);
    const epoch = await store.deployment.raiseEpoch(record?.epoch ?? 0);
    await replaceDeploymentRecord(client, namespace, { store: id, account, epoch });
    out(`The store is in epoch ${epoch} now. Start the gateways and workers again.`);
    return EXIT.done;
  });
}

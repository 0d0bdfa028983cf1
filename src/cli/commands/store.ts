import type { Command } from 'commander';
import { readDeploymentRecord, replaceDeploymentRecord } from '../../temporal/deployment-record.js';
import { CliError, EXIT, type ExitCode } from '../exit-codes.js';
import type { CliContext, RunCommand } from '../context.js';
import { requireOwnStore } from '../wiring/deployment.js';
import { loadKeyring, openConfiguredStore } from '../wiring/dependencies.js';
import { loadSettings } from '../wiring/load-settings.js';
import { identityOf, openTemporal } from '../wiring/temporal.js';

export function addStoreCommand(program: Command, run: RunCommand, context: CliContext): void {
  const store = program
    .command('store')
    .summary('after a restore of the store: begin a new epoch')
    .addHelpText('after', '\nExample:\n  towline store raise-epoch');
  store
    .command('raise-epoch')
    .description(
      'After the store was restored from a backup, with every gateway and worker stopped. What was prepared before and ' +
        'has no claim in the backup is unknown from then on: it is looked up, or parks, and is never sent again by itself.',
    )
    .addHelpText('after', '\nExample:\n  towline store raise-epoch')
    .action(() => run(() => raiseEpoch(context)));
}

async function raiseEpoch({ env, out }: CliContext): Promise<ExitCode> {
  const { settings, home } = await loadSettings(env);
  const keyring = await loadKeyring(settings);
  const store = await openConfiguredStore(settings, home, keyring);
  const identity = identityOf('store', process.pid);
  const temporal = openTemporal({ settings, keyring, identity, onUndecodable: () => undefined });
  try {
    const { client, namespace } = temporal;
    const account = settings.serviceAccount;
    await requireOwnStore({ store, namespace, account });
    const { id } = await store.deployment.read();
    const record = await readDeploymentRecord(client, namespace);
    if (record !== undefined && record.store !== id) {
      throw new CliError(
        `The Temporal namespace ${namespace} is bound to another store (${record.store}; this is ${id}).`,
      );
    }
    const epoch = await store.deployment.raiseEpoch(record?.epoch ?? 0);
    await replaceDeploymentRecord(client, namespace, { store: id, account, epoch });
    out(`The store is in epoch ${epoch} now. Start the gateways and workers again.`);
    return EXIT.done;
  } finally {
    await temporal.close();
    await store.close();
  }
}

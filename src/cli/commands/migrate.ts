import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { CliError, EXIT } from '../exit-codes.js';
import type { CliContext, RunCommand } from '../context.js';
import { migrateFile } from '../../store/libsql/open.js';
import { migratePostgres } from '../../store/postgres/migrate.js';
import { loadSettings } from '../wiring/load-settings.js';
import { placeOfStore } from '../wiring/dependencies.js';

/** As Postgres folds a name that is written without quotes. */
const ROLE = /^[a-z_][a-z0-9_]{0,62}$/;

export function addCommand(program: Command, run: RunCommand, { env, out }: CliContext): void {
  program
    .command('migrate')
    .description(
      'Brings the tables of the store up to date, however long it takes. Gateways and workers of the release before go on ' +
        'meanwhile and after it. They never do this to a store that is in use; an empty one gets its tables at the first start.',
    )
    .option(
      '--grant-to <role>',
      'a role of Postgres for gateways and workers: it gets the rights to use the tables, and none to change them',
    )
    .addHelpText(
      'after',
      '\nExample:\n  DATABASE_URL=postgres://towline_owner@db.example/towline towline migrate --grant-to towline',
    )
    .action(({ grantTo }: { readonly grantTo?: string }) =>
      run(async () => {
        const { settings, home } = await loadSettings(env);
        const { databaseUrl } = settings;
        if (databaseUrl === undefined && !settings.development && !existsSync(home.store)) {
          throw new CliError(
            `DATABASE_URL is missing, and ${home.store} does not exist: outside of development set DATABASE_URL, or ` +
              'TOWLINE_HOME to where the embedded store is.',
          );
        }
        if (grantTo !== undefined && (databaseUrl === undefined || !ROLE.test(grantTo))) {
          throw new CliError('--grant-to needs DATABASE_URL, and a role of lower-case letters, digits and _.');
        }
        const version = await (databaseUrl === undefined
          ? migrateFile(home.store)
          : migratePostgres(databaseUrl, { runRole: grantTo }));
        out(`${placeOfStore(settings, home)} has schema version ${version} now.`);
        return EXIT.done;
      }),
    );
}

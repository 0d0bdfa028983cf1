import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import type { CliContext, RunCommand } from '../context.js';
import { migrateFile } from '../../store/libsql/open.js';
import { migratePostgres } from '../../store/postgres/migrate.js';
import { POSTGRES_SCHEMA } from '../../store/postgres/migrations.js';
import { loadSettings } from '../wiring/load-settings.js';
import { placeOfStore } from '../wiring/dependencies.js';

export function addMigrateCommand(program: Command, run: RunCommand, { env, out }: CliContext): void {
  program
    .command('migrate')
    .summary('bring the tables of the store up to date, before a newer release')
    .description(
      'Brings the tables of the store up to date, however long it takes. Gateways and workers of the release before go on ' +
        'meanwhile and after it. They never do this to a store that is in use; an empty one gets its tables at the first start.',
    )
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://towline@db.example/towline towline migrate')
    .action(() =>
      run(async () => {
        const { settings, home } = await loadSettings(env);
        const { databaseUrl } = settings;
        const version = await (databaseUrl === undefined
          ? migrateFile(home.store)
          : migratePostgres(databaseUrl, POSTGRES_SCHEMA));
        out(`${placeOfStore(settings, home)} has schema version ${version} now.`);
        return EXIT.done;
      }),
    );
}

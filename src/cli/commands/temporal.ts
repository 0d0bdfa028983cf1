import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import type { Command } from 'commander';
import { type Environment, readSecretFiles } from '../../config/index.js';
import { ensureSearchAttributes, registerNamespace } from '../../dev-server/search-attributes.js';
import { SEARCH_ATTRIBUTES } from '../../protocol/vocabulary.js';
import { callWithin } from '../../temporal/call-within.js';
import { connectTemporal, GRPC, grpcStatusOf, isOutage, type TemporalClient } from '../../temporal/connection.js';
import { findServerExecutable } from '../../dev-server/find-server.js';
import type { CliContext, RunCommand } from '../context.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { refuseOtherIfKnown } from '../wiring/deployment.js';
import { loadSettings } from '../wiring/load-settings.js';
import { withServices } from '../wiring/services.js';
import { temporalAddress } from '../wiring/temporal.js';

export function addCommand(program: Command, run: RunCommand, context: CliContext): void {
  const temporal = program
    .command('temporal')
    .description(
      "Runs Temporal's own command line, the one that `towline up` found or built, against the Temporal server of the " +
        'settings. Everything after `temporal` is handed to it as it is.',
    )
    .argument('[arguments...]', "Temporal's own command and options")
    .passThroughOptions()
    .allowUnknownOption()
    .addHelpText('after', '\nExample:\n  towline temporal workflow list --limit 5')
    .helpCommand(false)
    .action((args: readonly string[]) => run(() => runTemporal(context, args)));
  temporal
    .command('setup')
    .summary('make the namespace, if there is none, and register the search attributes of flows')
    .description(
      'Makes the namespace of TEMPORAL_NAMESPACE, if there is none, and registers the search attributes that flows set. ' +
        'Waits a minute for a Temporal that starts. May be run again.',
    )
    .addHelpText('after', '\nExample:\n  TEMPORAL_ADDRESS=temporal:7233 towline temporal setup')
    .action(() => run(() => setUp(context)));
}

const SETUP_WITHIN_MS = 60_000;
const AGAIN_MS = 1_000;

/** Needs no settings but those of Temporal: it runs before there is a store. */
async function setUp({ env, out }: CliContext): Promise<ExitCode> {
  const given = Object.entries({ ...env, ...apiKeyOf(env) });
  const variables = Object.fromEntries(
    given.filter((entry): entry is [string, string] => entry[0].startsWith('TEMPORAL_') && Boolean(entry[1])),
  );
  const temporal = connectTemporal({ variables, identity: 'towline-setup' });
  const until = performance.now() + SETUP_WITHIN_MS;
  try {
    for (;;) {
      try {
        await setUpNamespace(temporal);
        break;
      } catch (error) {
        // A namespace that was just made is not found for some seconds.
        const mayPass = isOutage(error) || grpcStatusOf(error) === GRPC.notFound;
        if (!mayPass || performance.now() > until) throw error;
        await setTimeout(AGAIN_MS);
      }
    }
  } finally {
    await temporal.close();
  }
  out(`The namespace ${temporal.namespace} has ${Object.keys(SEARCH_ATTRIBUTES).join(', ')}.`);
  return EXIT.done;
}

const CALL_WITHIN_MS = 10_000;

async function setUpNamespace({ client, namespace }: TemporalClient): Promise<void> {
  const { workflowService } = client;
  const connection = client.connection as Connection;
  const exists = await callWithin(client, CALL_WITHIN_MS, () => workflowService.describeNamespace({ namespace })).then(
    () => true,
    (error: unknown) => {
      if (grpcStatusOf(error) === GRPC.notFound) return false;
      throw error;
    },
  );
  if (!exists) {
    await callWithin(client, CALL_WITHIN_MS, () => registerNamespace(connection, namespace));
  }
  await callWithin(client, CALL_WITHIN_MS, () => ensureSearchAttributes(connection, namespace, SEARCH_ATTRIBUTES));
}

/** Exit code 0, or `refused` for everything else. */
async function runTemporal({ env, err }: CliContext, args: readonly string[]): Promise<ExitCode> {
  const loaded = await loadSettings(env);
  const address = temporalAddress(loaded.settings);
  // It could start a flow in somebody else's Temporal. One that does not answer is reported by Temporal's command line.
  await withServices(loaded, 'temporal', ({ temporal, deployment }) => refuseOtherIfKnown(temporal.client, deployment));
  const { path } = await findServerExecutable({ env, log: err });
  const child = spawn(path, args, {
    stdio: 'inherit',
    env: { ...env, ...apiKeyOf(env), TEMPORAL_ADDRESS: address },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0 ? EXIT.done : EXIT.refused;
}

/** The only secret of ours that Temporal's command line needs, if a file has it: our others are not handed to it. */
function apiKeyOf({ TEMPORAL_API_KEY, TEMPORAL_API_KEY_FILE }: Environment): Environment {
  return readSecretFiles({ TEMPORAL_API_KEY, TEMPORAL_API_KEY_FILE }).env;
}

import type { Client, Connection } from '@temporalio/client';
import type { Settings } from '../../config/index.js';
import { connectTemporal, type TemporalClient } from '../../temporal/connection.js';
import { ensureSearchAttributes } from '../../temporal/search-attributes.js';
import { CliError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';
import { GRPC, grpcStatusOf } from '../wiring/grpc-status.js';
import { temporalAddress } from '../wiring/temporal.js';
import { SEARCH_ATTRIBUTES } from './temporal-server.js';

const WITHIN_MS = 15_000;

/**
 * Connects to the server that our processes will use, and registers what flows need there.
 * @throws CliError where it cannot be reached
 */
export async function prepareTemporal(
  settings: Pick<Settings, 'temporal'>,
  say: (line: string) => void,
): Promise<TemporalClient> {
  const temporal = connectTemporal({ variables: settings.temporal, identity: 'towline-up' });
  const { client, namespace } = temporal;
  try {
    await client.connection.withDeadline(Date.now() + WITHIN_MS, () =>
      client.workflowService.describeNamespace({ namespace }),
    );
    await registerAttributes(client, namespace, say);
    return temporal;
  } catch (error) {
    await temporal.close();
    throw explained(error, temporalAddress(settings), namespace);
  }
}

/** Some servers let nobody do that over this door: there an operator does it once. */
async function registerAttributes(client: Client, namespace: string, say: (line: string) => void): Promise<void> {
  try {
    await ensureSearchAttributes(client.connection as Connection, namespace, SEARCH_ATTRIBUTES);
  } catch (error) {
    const status = grpcStatusOf(error);
    if (status !== GRPC.permissionDenied && status !== GRPC.unimplemented) throw error;
    const names = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => `${name} (${type})`);
    say(`the search attribute ${names.join(', ')} may be missing in the namespace ${namespace}: have it registered`);
  }
}

function explained(error: unknown, address: string, namespace: string): CliError {
  if (grpcStatusOf(error) === GRPC.notFound) {
    return new CliError(`Temporal at ${address} has no namespace ${namespace}: make it, or set TEMPORAL_NAMESPACE.`);
  }
  return new CliError(
    `Temporal at ${address} cannot be reached: start it, or unset TEMPORAL_ADDRESS.`,
    EXIT.unreachable,
  );
}

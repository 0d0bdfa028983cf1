import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { ensureSearchAttributes, type SearchAttributes } from './search-attributes.js';

const pollMs = 25;
const namespace = 'default';

/**
 * Waits until the server at `address` has a namespace with these search attributes, which is later than the opening of
 * its port. They are registered here, because an existing database keeps those of its first start.
 * @returns false if `signal` came first
 */
export async function untilServerReady(
  address: string,
  searchAttributes: SearchAttributes,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    // A gRPC channel that was refused waits a second before it tries again; a bare socket can try at once.
    if ((await isListening(address)) && (await answers(address, searchAttributes))) return true;
    await sleep(pollMs);
  }
  return false;
}

function isListening(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host: host ?? '127.0.0.1', port: Number(port) });
    const finish = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

async function answers(address: string, searchAttributes: SearchAttributes): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: 1_000 });
    await connection.workflowService.describeNamespace({ namespace });
    await ensureSearchAttributes(connection, namespace, searchAttributes);
    return true;
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}

import type { Connection } from '@temporalio/client';
import { ensureSearchAttributes, registerNamespace } from '../../src/dev-server/search-attributes.js';
import { until } from './until.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';

/** A namespace of the test run's server, ready for flows: for what counts or lists all of them, and for other accounts. */
export async function openNamespace(connection: Connection, namespace: string): Promise<void> {
  await registerNamespace(connection, namespace);
  await until(`the namespace ${namespace}`, () =>
    ensureSearchAttributes(connection, namespace, SEARCH_ATTRIBUTES).then(
      () => true,
      () => false,
    ),
  );
}

import type { Connection } from '@temporalio/client';
import { ensureSearchAttributes } from '../../src/dev-server/search-attributes.js';
import { until } from './until.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';

/** A namespace of the test run's server, ready for flows: for what counts or lists all of them, and for other accounts. */
export async function openNamespace(connection: Connection, namespace: string): Promise<void> {
  const day = { seconds: 86_400 as never };
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: day });
  await until(`the namespace ${namespace}`, () =>
    ensureSearchAttributes(connection, namespace, SEARCH_ATTRIBUTES).then(
      () => true,
      () => false,
    ),
  );
}

import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';

const types = proto.temporal.api.enums.v1.IndexedValueType;

/** Search attributes, name to type, as the server spells its types: `{TowlineState: 'Keyword'}`. */
export type SearchAttributes = Readonly<Record<string, keyof typeof indexedValueType>>;

const indexedValueType = {
  Text: types.INDEXED_VALUE_TYPE_TEXT,
  Keyword: types.INDEXED_VALUE_TYPE_KEYWORD,
  Int: types.INDEXED_VALUE_TYPE_INT,
  Double: types.INDEXED_VALUE_TYPE_DOUBLE,
  Bool: types.INDEXED_VALUE_TYPE_BOOL,
  Datetime: types.INDEXED_VALUE_TYPE_DATETIME,
  KeywordList: types.INDEXED_VALUE_TYPE_KEYWORD_LIST,
} as const;

/** Registers those that the namespace does not have yet; a flow that sets an unknown one could not start. */
export async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: SearchAttributes,
): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(attributes).filter(([name]) => !(name in customAttributes));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map(([name, type]) => [name, indexedValueType[type]]));
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

/** How long the histories of flows that have ended are kept. */
const RETENTION = msToTs('30 days');

export async function registerNamespace({ workflowService }: Connection, namespace: string): Promise<void> {
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: RETENTION });
}

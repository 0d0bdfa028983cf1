import type { Client } from '@temporalio/client';
import { executionInfoFromRaw } from '@temporalio/client/lib/helpers.js';

/** A workflow execution, as the visibility store lists it. */
export type ListedExecution = Awaited<ReturnType<typeof executionInfoFromRaw>>;

export interface ExecutionPage {
  readonly found: readonly ListedExecution[];
  /** Where the next page begins; empty at the end. */
  readonly nextPageToken: Uint8Array;
}

/** One page of the visibility store. The client's own `list` hides the token of the next page. */
export async function listExecutions(
  { options, workflowService }: Client,
  query: string,
  pageSize: number,
  nextPageToken: Uint8Array = new Uint8Array(),
): Promise<ExecutionPage> {
  const { namespace, loadedDataConverter } = options;
  const page = await workflowService.listWorkflowExecutions({ namespace, query, pageSize, nextPageToken });
  const decoded = page.executions.map((raw) => executionInfoFromRaw(raw, loadedDataConverter, raw, namespace));
  return { found: await Promise.all(decoded), nextPageToken: page.nextPageToken ?? new Uint8Array() };
}

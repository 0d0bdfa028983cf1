import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FlowKind } from '../../flows/vocabulary.js';
import { packageRoot } from '../../temporal/package-root.js';

/** What a flow's input calls its reference, where that is not `referenceId`. */
const REFERENCE_MEMBERS: Partial<Record<FlowKind, string>> = {
  'bridge-transfer': 'provider_reference_id',
  'kyc-check': 'kycId',
};

/** The example of a kind, as it stands in `examples/`, under a reference of its own. */
export async function exampleInput(kind: FlowKind, reference: string): Promise<Record<string, unknown>> {
  const example = await readFile(join(packageRoot(), 'examples', `${kind}.json`), 'utf8');
  return {
    ...(JSON.parse(example) as Record<string, unknown>),
    [REFERENCE_MEMBERS[kind] ?? 'referenceId']: reference,
  };
}

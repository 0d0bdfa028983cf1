import type { FlowDefinition } from '../flows/flow.js';
import type { Store } from '../store/store.js';
import { canonicalJson } from '../store/canonical-json.js';

/** What tells one request from another under the same reference. Keyed, so that it says nothing to who can read it. */
export function flowFingerprint<Input>(
  store: Pick<Store, 'mac'>,
  flow: Pick<FlowDefinition<Input>, 'decidedBy'>,
  input: Input,
): string {
  return store.mac('flow-input', canonicalJson(flow.decidedBy(input)));
}

export { settlement, transferInput } from '../../harness/inputs.js';
export { newReference } from '../../harness/references.js';

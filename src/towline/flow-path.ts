import { REFERENCE_PATTERN } from '../contract/sending.js';
import { parseFlowId } from '../flows/vocabulary.js';
import { InvalidError } from './errors.js';

/** The path of a flow, by the one grammar, before a URL is built from it. @throws InvalidError */
export function flowPath(flowId: string): string {
  const id = parseFlowId(flowId);
  if (id !== undefined && REFERENCE_PATTERN.test(id.reference)) return `/flows/${flowId}`;
  throw new InvalidError('The flow id names no flow: it must be kind/reference, such as bridge-transfer/order-1001.');
}

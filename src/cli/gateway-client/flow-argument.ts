import { flowAddress } from '../../gateway/http/flow-path.js';
import { CliError } from '../cli-error.js';

export const FLOW_ARGUMENT = 'kind/reference, such as bridge-transfer/order-1001';

/**
 * The flow id of an argument, by the one grammar, before a URL is built from it.
 * @throws CliError
 */
export function flowArgument(text: string): string {
  const slash = text.indexOf('/');
  const address = flowAddress(text.slice(0, slash), text.slice(slash + 1));
  if (slash > 0 && address !== undefined) return address.flowId;
  throw new CliError(`"${text}" names no flow: write ${FLOW_ARGUMENT}.`);
}

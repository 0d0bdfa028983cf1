import type { ServiceClient } from '../../service-client/index.js';
import type { FlowOperationDeps, LookUp } from '../flows/deps.js';
import type { RecordPayOrder } from './pay-orders.js';
import type { ServiceReads } from './service-reads.js';

/** Access to the service, for requests that pass through. */
export interface ServiceAccess {
  readonly client: Pick<ServiceClient, 'relay'>;
  /** The token that existing integrations send; undefined if it cannot be read. */
  token(): Promise<string | undefined>;
  readonly lookUp: LookUp;
}

/** What the proxy needs: what the flow operations need, and access to the service. */
export interface ProxyDeps extends FlowOperationDeps {
  readonly service: ServiceAccess;
  readonly reads: ServiceReads;
  readonly recordPayOrder: RecordPayOrder;
  /** For callers who give no reference if the interface allows that. */
  readonly newReference: () => string;
}

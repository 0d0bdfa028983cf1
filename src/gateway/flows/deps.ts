import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Settings } from '../../config/settings-shape.js';
import type { LookupSays } from '../../protocol/decisions.js';
import type { Store } from '../../store/store.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import type { CardIntake } from '../cards/card-intake.js';
import type { Settler } from '../dispatch/settler.js';
import type { FlowWatch } from './flow-watch.js';
import type { Owners } from '../http/owners.js';
import type { Budget } from './budget.js';
import type { TakePages } from './charged-pages.js';
import type { Readings } from './readings.js';

/**
 * Makes the status lookup of an operation; never fails. `absent`: the service said so several times in a row. `status`:
 * the kind's word for the status of the service's record.
 */
export type LookUp = (operation: string, reference: string) => Promise<LookedUp>;

interface LookedUp {
  readonly says: LookupSays;
  readonly status?: string;
}

/** What the flow operations need. */
export interface FlowOperationDeps {
  readonly settings: Settings;
  readonly client: Client;
  readonly store: Store;
  /** Looks up an operation's reference at the service. Undefined: this gateway cannot reach the service. */
  readonly lookUp: LookUp | undefined;
  readonly reader: FlowReader;
  readonly watch: FlowWatch;
  /** Of Temporal's lists. */
  readonly takePage: TakePages;
  readonly owners: Owners;
  readonly settler: Pick<Settler, 'checkSoon'>;
  readonly cards: CardIntake;
  readonly readings: Readings;
  /** Of what a name may leave behind. */
  readonly budget: Budget;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Aborted when the gateway closes: requests that wait for a flow then get its current state. */
  readonly closing: AbortSignal;
  /** @default that of all flows */
  readonly taskQueue?: string | undefined;
}

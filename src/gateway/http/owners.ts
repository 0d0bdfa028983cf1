import type { Permission } from '../../protocol/permissions.js';
import type { AuditStore } from '../../store/audit.js';
import type { FlowAddress } from './flow-path.js';
import { type Caller, mayOrder } from './may-order.js';
import { Refusal } from './refusal.js';

/** Whose flows a caller may see and order. Only who is limited to their own costs a read of the store. */
export interface Owners {
  /** @throws Refusal 404 as for a flow that does not exist, StoreUnavailableError */
  require(caller: Caller, permission: Permission, address: FlowAddress): Promise<void>;
  /** Whether the caller may do this to the flows of every name. */
  isForAll(caller: Caller, permission: Permission): boolean;
  /** Those of these that the caller may do it to. */
  theirs<Item extends { readonly flowId: string | null }>(
    caller: Caller,
    permission: Permission,
    items: readonly Item[],
  ): Promise<readonly Item[]>;
}

export function createOwners(audit: Pick<AuditStore, 'ownersOf'>): Owners {
  const may = (caller: Caller, permission: Permission, owner: string | null) =>
    mayOrder({ caller, permission, flow: { owner } }) === 'yes';
  const isForAll = (caller: Caller, permission: Permission) => may(caller, permission, null);
  return {
    isForAll,
    async require(caller, permission, address) {
      if (isForAll(caller, permission)) return;
      const { flowId } = address;
      const owner = (await audit.ownersOf([flowId])).get(flowId)?.name ?? null;
      if (!may(caller, permission, owner)) throw noSuchFlow(address);
    },
    async theirs(caller, permission, items) {
      if (isForAll(caller, permission)) return items;
      const owners = await audit.ownersOf(items.flatMap(({ flowId }) => flowId ?? []));
      return items.filter(({ flowId }) => may(caller, permission, owners.get(flowId ?? '')?.name ?? null));
    },
  };
}

export const noSuchFlow = ({ kind, reference }: FlowAddress): Refusal =>
  new Refusal(404, `There is no flow ${kind}/${reference}. Start it with POST /flows/${kind}.`, { reference });

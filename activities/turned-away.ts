import type { OperationName } from '../src/contract/index.js';
import { refusalStands, TURNED_AWAY, type LookupSays } from '../src/protocol/decisions.js';
import type { ClaimPhase } from '../src/store/claim.js';
import { keyOf, requireOwnDeployment } from './claims.js';
import type { ActivityDeps } from './deps.js';
import { storing } from './failures.js';
import { paidBeforeOurs } from './invoice-paid.js';
import { lookUpRecord, lookupOfPaid } from './status-lookups.js';
import type { ClaimRef } from './types.js';

/** A claim under which POSTs left, each of which the service answered, in its own words, as not executed. */
export function createTurnedAwayActivities(deps: ActivityDeps) {
  return {
    /**
     * Voids such a claim of an operation that has a lookup, once that has shown nothing of it. Leaves every other claim
     * alone. `isUnclear`: the lookup shows an unpaid invoice, as it did before any payment, and as it may for ever.
     */
    async voidTurnedAway(
      order: ClaimRef & { reason: string; timeScale: number },
    ): Promise<{ readonly phase: ClaimPhase; readonly isUnclear: boolean }> {
      await requireOwnDeployment(deps, order);
      const key = keyOf(deps, order);
      const claim = await storing(() => deps.store.claims.get(key));
      if (claim?.phase !== 'reserved' || claim.turnedAway === undefined)
        return { phase: claim?.phase ?? 'reserved', isUnclear: false };
      const shown = await lookUp(deps, order);
      const isUnclear = order.operation === PAY && shown === 'proves-nothing';
      if (!refusalStands({ ...TURNED_AWAY, lookup: shown })) return { phase: claim.phase, isUnclear };
      const { flowId, fingerprint, pin, reason } = order;
      // Not if another POST left while the service was asked.
      const unsent = { flowId, fingerprint, epoch: pin.epoch, turnedAway: claim.turnedAway };
      const { phase } = await storing(() => deps.store.claims.voidUnsent(key, unsent, reason));
      return { phase, isUnclear: false };
    },
  };
}

const PAY: OperationName = 'payInvoice';

/** The record of an invoice's payment is there before any payment, and says so. */
async function lookUp(
  deps: ActivityDeps,
  { operation, reference, pin, timeScale }: ClaimRef & { timeScale: number },
): Promise<LookupSays> {
  if (operation !== PAY) {
    const { live = [] } = pin;
    return (await lookUpRecord({ ...deps, live, timeScale }, operation, reference)).says;
  }
  return lookupOfPaid(await paidBeforeOurs(deps, { reference, expect: {}, timeScale }));
}

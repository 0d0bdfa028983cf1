import type { Bridge } from '../bridge/bridge.js';
import type { Deposits } from '../bridge/deposits.js';
import { badMembers, unknownReference } from '../refusal.js';
import type { Handler } from './handler.js';

/** "any | settlement webhook received | body is valid | the status value carried in the body". */
export function createReportSettlement(deps: { deposits: Deposits; bridge: Bridge }): Handler<'reportSettlement'> {
  const { deposits, bridge } = deps;
  return ({ body }) => {
    const deposit = deposits.get(body.kotani_reference_id);
    if (deposit === undefined) return unknownReference('Bridge deposit', body.kotani_reference_id);
    if (deposit.reference !== body.provider_reference_id) {
      return badMembers([{ path: 'provider_reference_id', message: 'belongs to another kotani_reference_id' }]);
    }
    bridge.apply(deposit.id, { kind: 'report', status: body.status });
    return { message: 'Settlement status received', data: {} };
  };
}

import type { BridgeDepositRequest } from '../../contract/bridge.js';
import { insufficientFunds, type Refusal, transactionFailed } from '../refusal.js';
import type { Scenarios } from '../scenarios.js';
import { chooseEnding } from '../transactions/choose-ending.js';
import { BRIDGE_ENDINGS, type BridgeEnding, scriptOf } from './endings.js';
import { BRIDGE_MAGIC_AMOUNTS } from './magic-amounts.js';
import { rateExpired, type Quotes } from './quotes.js';

export interface Admission {
  /** How this deposit will go: by the scenario of its reference, its amount, or its recipient's number, else `completed`. */
  endingFor(request: BridgeDepositRequest): BridgeEnding;
  /** Why it is not accepted, or undefined; inside `database.write`. */
  refusal(request: BridgeDepositRequest, ending: BridgeEnding): Refusal | undefined;
}

export function createAdmission(deps: { scenarios: Scenarios; quotes: Quotes }): Admission {
  const { scenarios, quotes } = deps;

  function scripted(reference: string, ending: BridgeEnding): Refusal | undefined {
    const { refuses } = scriptOf(ending);
    switch (refuses) {
      case undefined:
        return undefined;
      case 'transaction-failed':
        return transactionFailed();
      case 'insufficient-funds':
        return insufficientFunds();
      case 'rate-expired': {
        const times = scenarios.get(reference)?.times ?? 1;
        if (times === 0) return undefined;
        scenarios.set(reference, { ending, times: times - 1 });
        return rateExpired();
      }
      default:
        return refuses satisfies never;
    }
  }

  return {
    endingFor({ provider_reference_id: reference, amount, settlement: { recipient } }) {
      const choices = { endings: BRIDGE_ENDINGS, magic: BRIDGE_MAGIC_AMOUNTS };
      const parties = [recipient.phone_number, recipient.bank_account_number];
      const request = { operation: 'createBridgeDeposit', reference, amount, parties };
      return chooseEnding({ scenarios, choices }, request) as BridgeEnding;
    },
    refusal(request, ending) {
      const reference = request.provider_reference_id;
      const refused = scripted(reference, ending);
      if (refused !== undefined || request.rate_id === undefined) return refused;
      const { amount, source_currency, chain, token } = request;
      return quotes.refusal(request.rate_id, reference, { source_amount: amount, source_currency, chain, token });
    },
  };
}

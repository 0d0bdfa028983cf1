/*
 * What the live service has and the interface lacks. A flow knows from its first activity which of it it may use. Imports
 * nothing, so that workflows may import its values.
 */

/** The lookup that only the live service has, by the operation whose outcome it shows. */
const LIVE_LOOKUPS: Readonly<Record<string, LiveOperation | undefined>> = {
  createBankWithdrawal: 'getBankWithdrawal',
  createCardDeposit: 'getCardDeposit',
  createBridgeDeposit: 'getBridgeDeposit',
};

/** Those that flows use, by their names in the contract. */
export const LIVE_OPERATIONS = [
  'getBankWithdrawal',
  'getCardDeposit',
  'getBridgeDeposit',
  'submitRefundInvoice',
] as const;
export type LiveOperation = (typeof LIVE_OPERATIONS)[number];

/** Which of them a flow may use: those of the settings when it began. */
export interface Profile {
  /** @default none */
  readonly live?: readonly LiveOperation[];
}

/** Undefined: this one cannot be looked up by what only the live service has, or the service is not known to have it. */
export function liveLookupOf({ live = [] }: Profile, operation: string): LiveOperation | undefined {
  const lookup = LIVE_LOOKUPS[operation];
  return lookup !== undefined && live.includes(lookup) ? lookup : undefined;
}

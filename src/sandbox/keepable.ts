import type { CardDepositRequest } from '../contract/deposit.js';
import type { OperationName } from '../contract/index.js';
import { withoutCard } from './deposit/card.js';

/**
 * A request's body without what must never be written down. Everything after the validation sees only this, so that no
 * job, fault log, execution or record can hold a card.
 */
export const keepable = (operation: OperationName, body: unknown): unknown =>
  operation === 'createCardDeposit' ? withoutCard(body as CardDepositRequest) : body;

import { BANK_CHECKOUT } from '../deposit/bank-checkout.js';
import type { Admit } from '../transactions/admit.js';
import type { Handler } from './handler.js';

/** The result "echoes the request members". */
export function createCreateBankCheckout(deps: { admit: Admit }): Handler<'createBankCheckout'> {
  return ({ body }) =>
    deps.admit(BANK_CHECKOUT, {
      body,
      reference: body.referenceId,
      answer: ({ reference }) => ({ message: 'Bank checkout created', data: { ...body, referenceId: reference } }),
    });
}

import { CARD_DEPOSIT, type KeptCardDeposit } from '../deposit/card.js';
import { customerKey } from '../deposit/payment.js';
import type { Admit } from '../transactions/admit.js';
import type { ReferenceNumbers } from '../transactions/reference-numbers.js';
import type { Handler } from './handler.js';

/** What it is given has no card any more: see `keepable`. */
export function createCreateCardDeposit(deps: {
  admit: Admit;
  numberOf: ReferenceNumbers;
  checkoutUrl: (id: string) => string;
}): Handler<'createCardDeposit'> {
  const { admit, numberOf, checkoutUrl } = deps;
  return (call) => {
    const body = call.body as KeptCardDeposit;
    return admit(CARD_DEPOSIT, {
      body,
      reference: body.referenceId,
      answer: (transaction) => ({
        message: 'Card deposit created: send the customer to redirect_url',
        data: {
          id: transaction.id,
          message: '3-D Secure is required',
          reference_id: transaction.reference,
          reference_number: numberOf(transaction),
          customer_key: customerKey(body.phoneNumber),
          redirect_url: checkoutUrl(transaction.id),
        },
      }),
    });
  };
}

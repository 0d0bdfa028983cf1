import { customerKey } from '../deposit/payment.js';
import { INVOICE } from '../invoice/invoice.js';
import type { Admit } from '../transactions/admit.js';
import type { ReferenceNumbers } from '../transactions/reference-numbers.js';
import type { Handler } from './handler.js';

export function createCreateInvoice(deps: {
  admit: Admit;
  numberOf: ReferenceNumbers;
  checkoutUrl: (id: string) => string;
}): Handler<'createInvoice'> {
  const { admit, numberOf, checkoutUrl } = deps;
  return ({ body }) =>
    admit(INVOICE, {
      body,
      reference: body.referenceId,
      answer: (invoice) => ({
        message: 'Invoice created',
        data: {
          id: invoice.id,
          message: 'The invoice can be paid',
          reference_id: invoice.reference,
          reference_number: numberOf(invoice),
          customer_key: customerKey(body.userReference ?? body.bank.accountNumber),
          redirect_url: checkoutUrl(invoice.id),
        },
      }),
    });
}

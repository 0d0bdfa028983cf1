import { customerKey } from '../deposit/payment.js';
import { ONRAMP } from '../onramp/onramp.js';
import type { Admit } from '../transactions/admit.js';
import type { ReferenceNumbers } from '../transactions/reference-numbers.js';
import type { Handler } from './handler.js';

/** "Which payment method must be given: not shown": either, both and neither are taken. */
export function createCreateOnramp(deps: {
  admit: Admit;
  numberOf: ReferenceNumbers;
  checkoutUrl: (id: string) => string;
}): Handler<'createOnramp'> {
  const { admit, numberOf, checkoutUrl } = deps;
  return ({ body }) =>
    admit(ONRAMP, {
      body,
      reference: body.referenceId,
      answer: (onramp) => ({
        message: 'Onramp created',
        data: {
          id: onramp.id,
          referenceId: onramp.reference,
          message: body.mobileMoney ? 'A prompt was sent to the phone' : 'Send the customer to redirectUrl',
          customerKey: customerKey(body.mobileMoney?.phoneNumber ?? body.bankCheckout?.phoneNumber ?? 'unknown'),
          redirectUrl: body.mobileMoney ? undefined : checkoutUrl(onramp.id),
          referenceNumber: numberOf(onramp),
        },
      }),
    });
}

import { badMembers } from '../refusal.js';
import type { Admit } from '../transactions/admit.js';
import type { ReferenceNumbers } from '../transactions/reference-numbers.js';
import { isSouthAfrican, WITHDRAWAL } from '../withdrawal/withdrawal.js';
import type { Handler } from './handler.js';

const abroad = () => badMembers([{ path: 'bankDetails.country', message: 'only South African banks are supported' }]);

export function createCreateBankWithdrawal(deps: {
  admit: Admit;
  numberOf: ReferenceNumbers;
}): Handler<'createBankWithdrawal'> {
  const { admit, numberOf } = deps;
  return ({ body }) =>
    admit(WITHDRAWAL, {
      body,
      reference: body.referenceId,
      refusal: () => (isSouthAfrican(body.bankDetails.country) ? undefined : abroad()),
      answer: (withdrawal) => ({
        message: 'Withdrawal created',
        data: {
          id: withdrawal.id,
          message: 'The withdrawal is on its way',
          referenceId: withdrawal.reference,
          referenceNumber: numberOf(withdrawal),
        },
      }),
    });
}

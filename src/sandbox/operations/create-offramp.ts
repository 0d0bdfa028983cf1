import { OFFRAMP, offrampRecord } from '../offramp/offramp.js';
import type { Admit } from '../transactions/admit.js';
import type { Words } from '../transactions/words.js';
import type { Handler } from './handler.js';

/** "Which of mobileMoneyReceiver and bankReceiver must be given: not shown": either, both and neither are taken. */
export function createCreateOfframp(deps: { admit: Admit; wordFor: Words }): Handler<'createOfframp'> {
  const { admit, wordFor } = deps;
  return ({ body }) =>
    admit(OFFRAMP, {
      body,
      reference: body.referenceId,
      answer: (offramp) => ({ message: 'Offramp created', data: offrampRecord(offramp, wordFor(OFFRAMP, offramp)) }),
    });
}

import type { Scene } from '../scene.js';
import { faultNotExecuted } from './shown.js';

/** A customer pays. */
export const payInScenes: readonly Scene[] = [
  {
    kind: 'invoice-payment',
    name: 'invoice',
    title: 'an invoice is generated, read and paid in one flow',
    expected: 'completed',
    executes: { createInvoice: 1, payInvoice: 1 },
  },
  {
    kind: 'onramp',
    name: 'onramp',
    title: 'its answer is lost after it was executed',
    expected: 'completed',
    executes: { createOnramp: 1 },
    prepare: ({ sandbox, reference }) => sandbox.fault({ operation: 'createOnramp', kind: 'answer-lost', reference }),
    flaw: faultNotExecuted,
  },
  {
    kind: 'bank-checkout',
    name: 'checkout',
    title: 'its answer is lost, and only the callback can prove it',
    expected: 'completed',
    executes: { createBankCheckout: 1 },
    prepare: ({ sandbox, reference }) =>
      sandbox.fault({ operation: 'createBankCheckout', kind: 'answer-lost', reference }),
    flaw: faultNotExecuted,
  },
  {
    kind: 'card-deposit',
    name: 'card',
    title: 'a card is charged whose number only the memory of the gateway holds',
    expected: 'completed',
    executes: { createCardDeposit: 1 },
    flaw: async (_, ended) =>
      /4111\D?1111\D?1111\D?1111/.test(JSON.stringify(ended)) ? 'the flow shows the number of the card' : undefined,
  },
];

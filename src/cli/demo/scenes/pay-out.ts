import type { Scene } from '../scene.js';
import { notRefusedFirst, someEventCame } from './shown.js';

/** Money goes out to somebody. */
export const payOutScenes: readonly Scene[] = [
  {
    kind: 'crypto-send',
    name: 'send',
    title: 'nobody tells that it arrived, so it is looked up',
    expected: 'completed',
    executes: { sendCrypto: 1 },
    prepare: ({ sandbox, reference }) => sandbox.scenario(reference, 'no-callbacks-ever'),
    flaw: someEventCame,
  },
  {
    kind: 'offramp',
    name: 'offramp',
    title: 'the payout fails, and the service gives the crypto back',
    expected: 'refunded',
    executes: { createOfframp: 1 },
    prepare: ({ sandbox, reference }) => sandbox.scenario(reference, 'failed-then-refunded'),
  },
  {
    kind: 'bank-withdrawal',
    name: 'withdrawal',
    title: 'refused at first (429), and sent again',
    expected: 'completed',
    executes: { createBankWithdrawal: 1 },
    prepare: ({ sandbox, reference }) =>
      sandbox.fault({ operation: 'createBankWithdrawal', kind: 'rate-limited', reference }),
    flaw: notRefusedFirst,
  },
];

import type { Scene } from '../scene.js';

/** No money moves: how a record ends is awaited. */
export const watchScenes: readonly Scene[] = [
  {
    kind: 'kyc-check',
    name: 'kyc',
    title: 'a record is looked at until it is approved',
    expected: 'completed',
    executes: {},
    // The quarter of an hour from one look to the next becomes 1.8 seconds, and the deadline 72.
    input: { timeScale: 0.002 },
  },
  {
    kind: 'mobile-money-watch',
    name: 'watch',
    title: 'a mobile money deposit that was started elsewhere is watched',
    expected: 'completed',
    executes: { mobileMoneyDeposit: 1 },
    prepare: ({ sandbox, reference }) => sandbox.mobileMoneyDeposit(reference),
  },
];

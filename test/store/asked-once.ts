import type { ClaimRef } from '../../activities/types.js';

/** A question to `settleUnknown` whose window is over when it is asked. */
export const askedOnce = (claim: ClaimRef) => ({
  claim,
  expect: {},
  fixed: {},
  saidToExist: false,
  windowMs: 0,
  confirmMs: 0,
  timeScale: 0.001,
});

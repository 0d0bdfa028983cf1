import { randomBytes } from 'node:crypto';
import { cardQueueOf, cardTokenOf } from '../../../src/flows/capability.js';
import type { Scenes } from '../scene.js';

/** What only a card deposit meets. */
export const cards: Scenes = {
  'card-deposit-expired': {
    ends: 'failed',
    reason: 'card_details_expired',
    // The gateway that kept it is gone.
    play: (on, reference) =>
      on.startKind('card-deposit', reference, {
        timeScale: 0.01,
        cardToken: cardTokenOf(cardQueueOf(randomBytes(24)), randomBytes(32)),
      }),
  },
};

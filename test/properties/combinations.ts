import {
  CLAIM_SAYS,
  ENDINGS,
  EVIDENCE,
  LOOKUP_SAYS,
  TRUSTED_SAY,
  type EndEvidence,
  type Ending,
  type PostEvidence,
} from '../../src/protocol/decisions.js';
import { MEANINGS, type Meaning } from '../../src/protocol/statuses.js';
import { PARK_ACTIONS, type ParkAction } from '../../src/protocol/vocabulary.js';

export const BOTH = [false, true] as const;

export const subsetsOf = <T>(all: readonly T[]): readonly (readonly T[])[] =>
  Array.from({ length: 2 ** all.length }, (_, mask) => all.filter((_each, bit) => (mask & (1 << bit)) !== 0));

/**
 * All combinations of claim, lookup, trusted and untrusted events, the service's own statement, the window and the
 * deadline.
 */
export const POSTS: readonly PostEvidence[] = CLAIM_SAYS.flatMap((claim) =>
  LOOKUP_SAYS.flatMap((lookup) =>
    TRUSTED_SAY.flatMap((trusted) =>
      BOTH.flatMap((untrusted) =>
        BOTH.flatMap((saidToExist) =>
          BOTH.flatMap((windowOver) =>
            BOTH.map((overdue) => ({ claim, lookup, trusted, untrusted, saidToExist, windowOver, overdue })),
          ),
        ),
      ),
    ),
  ),
);

export const ENDS: readonly EndEvidence[] = subsetsOf(ENDINGS).flatMap((proven) =>
  subsetsOf(ENDINGS).flatMap((claimed) => EVIDENCE.map((fundsHeld) => ({ proven, claimed, fundsHeld }))),
);

/** What was proven when a person was asked, and when the order is carried out: never less. */
export const ASKED: readonly { readonly shown: readonly Ending[]; readonly proven: readonly Ending[] }[] = subsetsOf(
  ENDINGS,
).flatMap((shown) =>
  subsetsOf(ENDINGS)
    .filter((proven) => shown.every((ending) => proven.includes(ending)))
    .map((proven) => ({ shown, proven })),
);

export const ACTIONS: readonly ParkAction[] = [...new Set(Object.values(PARK_ACTIONS).flat())];

/** What the lookup said about a payment, and what trusted events did. */
export const PAYMENT_EVIDENCE: readonly {
  readonly proven: readonly Meaning[];
  readonly byEvents: readonly Meaning[];
}[] = subsetsOf(MEANINGS).flatMap((proven) => subsetsOf(MEANINGS).map((byEvents) => ({ proven, byEvents })));

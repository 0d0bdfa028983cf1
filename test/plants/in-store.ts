import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type * as seal from '../../src/keys/seal.js';
import type * as claimSteps from '../../src/store/claim-steps.js';
import type * as dialect from '../../src/store/dialect.js';
import type * as inboxRow from '../../src/store/inbox-row.js';
import { replacing, type Plants } from './replaced.js';

const UNTIL = `COALESCE(sending_at, reserved_at) <= ?`;
const NOT_COUNTED = `
  ON CONFLICT (source, came_to, came_trusted, content_hash) DO UPDATE SET repeats = repeats
  ON CONFLICT (id) DO UPDATE SET repeats = repeats
    WHERE source = excluded.source AND came_to = excluded.came_to
      AND came_trusted = excluded.came_trusted AND content_hash = excluded.content_hash`;

/** In the store, and in what seals its rows. */
export const plants = {
  'send-again-of-answered': [
    replacing<typeof claimSteps>('src/store/claim-steps.ts', {
      CAN_BE_SENT_AGAIN: ({ ENDED_BY_ORDER }) =>
        `phase IN ('sending', 'answered') AND owner <> ? AND NOT ${ENDED_BY_ORDER} AND ${UNTIL}`,
    }),
  ],
  'send-again-after-the-last-word': [
    replacing<typeof claimSteps>('src/store/claim-steps.ts', {
      CAN_BE_SENT_AGAIN: () => `phase = 'sending' AND owner <> ? AND ${UNTIL}`,
    }),
  ],
  'void-hides-answer': [
    replacing<typeof claimSteps>('src/store/claim-steps.ts', {
      CAN_BE_ANSWERED: () => `phase NOT IN ('answered', 'void')`,
    }),
  ],
  'close-voids-answered': [
    replacing<typeof claimSteps>('src/store/claim-steps.ts', {
      CAN_BE_CLOSED: () => `(phase IN ('reserved', 'answered') OR (phase = 'sending' AND ${UNTIL}))`,
    }),
  ],
  'reserve-steals-sending': [
    replacing<typeof claimSteps>('src/store/claim-steps.ts', {
      CAN_BE_TAKEN_OVER: () => `claims.phase IN ('reserved', 'sending')`,
    }),
  ],
  'mark-while-sending': [
    replacing<typeof claimSteps>('src/store/claim-steps.ts', {
      UNDER_WAY: () => `(SELECT COUNT(*) FROM claims WHERE flow_id = ? AND reserved_at > ? AND false)`,
    }),
  ],
  'late-mark-reopens': [
    replacing<typeof inboxRow>('src/store/inbox-row.ts', {
      CAN_BE_SETTLED: () => 'true',
    }),
  ],
  'repeat-not-counted': [
    replacing<typeof dialect>('src/store/dialect.ts', {
      LIBSQL: ({ LIBSQL }) => ({ ...LIBSQL, onRepeatedEvent: NOT_COUNTED }),
    }),
  ],
  'nonces-repeat': [
    replacing<typeof seal>('src/keys/seal.ts', {
      seal: (honest) => {
        const { randomFillSync } = crypto;
        let isFilled = false;
        crypto.randomFillSync = <Bytes extends NodeJS.ArrayBufferView>(bytes: Bytes): Bytes => {
          if (!isFilled) randomFillSync(bytes);
          isFilled = true;
          return bytes;
        };
        syncBuiltinESMExports();
        return honest.seal;
      },
    }),
  ],
} satisfies Plants;

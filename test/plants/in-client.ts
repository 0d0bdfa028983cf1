import type * as duplicateWords from '../../src/contract/duplicate-words.js';
import type * as money from '../../src/money.js';
import type * as send from '../../src/service-client/send.js';
import { replacing, type Plants } from './replaced.js';

/** In the client of the service, and in how it reads and writes. */
export const plants = {
  'no-word-is-duplicate': [
    replacing<typeof duplicateWords>('src/contract/duplicate-words.ts', {
      saysOfReference: () => () => 'nothing',
    }),
  ],
  'float-sums': [
    replacing<typeof money>('src/money.ts', {
      toWireNumber:
        ({ toWireNumber }) =>
        (...args) =>
          Math.fround(toWireNumber(...args)),
    }),
  ],
  'client-error-thrown': [
    replacing<typeof send>('src/service-client/send.ts', {
      createSend:
        ({ createSend }) =>
        (options) => {
          const sendOne = createSend(options);
          return async (request) => {
            const result = await sendOne(request);
            if (result.kind !== 'doubt') return result;
            // As an HTTP client's own error has it.
            const config = { headers: { authorization: `Bearer ${request.token ?? ''}` } };
            throw Object.assign(new Error('socket hang up'), { config });
          };
        },
    }),
  ],
} satisfies Plants;

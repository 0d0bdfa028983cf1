import type * as settings from '../../src/config/settings.js';
import type * as deliverBatch from '../../src/gateway/dispatch/deliver-batch.js';
import { Refusal } from '../../src/gateway/http/refusal.js';
import type * as receiveEvent from '../../src/gateway/inbound/receive-event.js';
import type { ReceiveDeps } from '../../src/gateway/inbound/receive-event.js';
import type * as knownAnswer from '../../src/gateway/proxy/known-answer.js';
import type * as sendMoney from '../../src/gateway/proxy/send-money.js';
import type { ClaimStore } from '../../src/store/claim.js';
import { replacing, type Plants } from './replaced.js';

/** An endpoint of events with other dependencies. */
const receivingWith = (change: (deps: ReceiveDeps) => ReceiveDeps) =>
  replacing<typeof receiveEvent>('src/gateway/inbound/receive-event.ts', {
    receiveEvent:
      (honest) =>
      (deps, ...event) =>
        honest.receiveEvent(change(deps), ...event),
  });

const LATER_MS = 2_000;

/** In the gateway, and in the settings. */
export const plants = {
  'short-windows-with-real-money': [
    replacing<typeof settings>('src/config/settings.ts', {
      readSettings:
        ({ readSettings }) =>
        ({ TIME_SCALE: given, ...rest }) => ({ ...readSettings(rest), timeScale: Number(given ?? 1) }),
    }),
  ],
  'other-content-is-accepted': [
    replacing<typeof sendMoney>('src/gateway/proxy/send-money.ts', {
      sendMoney:
        (honest) =>
        (deps, ...rest) => {
          const facts: typeof deps.reader.facts = async (flowId) => {
            const found = await deps.reader.facts(flowId);
            return found && { ...found, fingerprint: undefined };
          };
          return honest.sendMoney({ ...deps, reader: { ...deps.reader, facts } }, ...rest);
        },
    }),
  ],
  'sent-before-the-restore': [
    replacing<typeof knownAnswer>('src/gateway/proxy/known-answer.ts', {
      isUnsent: () => () => true,
    }),
  ],
  'acknowledged-before-the-row': [
    receivingWith((deps) => ({
      ...deps,
      receive: (event) => {
        setTimeout(() => void deps.receive(event).catch(() => undefined), LATER_MS);
        return Promise.resolve({ kind: 'stored' });
      },
    })),
  ],
  'no-dedup-of-events': [
    receivingWith((deps) => ({
      ...deps,
      store: { ...deps.store, macs: (purpose, text) => deps.store.macs(purpose, `${text} ${Math.random()}`) },
    })),
  ],
  'unsigned-is-trusted': [
    receivingWith((deps) => ({
      ...deps,
      receive: (event) => deps.receive({ ...event, proof: event.proof ?? 'signature' }),
    })),
  ],
  'unknown-reference-is-refused': [
    replacing<typeof receiveEvent>('src/gateway/inbound/receive-event.ts', {
      receiveEvent:
        (honest) =>
        async (deps, ...event) => {
          const { claims } = deps.store as unknown as { readonly claims: ClaimStore };
          let isKnown = true;
          const receive: ReceiveDeps['receive'] = async (received) => {
            isKnown = received.flowId !== null && (await claims.ofFlow(received.flowId)).length > 0;
            if (!isKnown) throw new Error('there is no such flow');
            return deps.receive(received);
          };
          await honest.receiveEvent({ ...deps, receive }, ...event).catch((error: unknown) => {
            throw isKnown ? error : new Refusal(404, 'There is no such flow.');
          });
        },
    }),
  ],
  'late-events-dropped': [
    replacing<typeof deliverBatch>('src/gateway/dispatch/deliver-batch.ts', {
      deliverBatch: (honest) => (deps, batch) => {
        const settle: typeof deps.inbox.settle = (verdicts) =>
          deps.inbox.settle(
            verdicts.map((verdict) => (verdict.state === 'late' ? { ...verdict, state: 'duplicate' } : verdict)),
          );
        return honest.deliverBatch({ ...deps, inbox: { ...deps.inbox, settle } }, batch);
      },
    }),
  ],
} satisfies Plants;

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { NotSentError } from '../../src/service-client/index.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';
import { until } from '../harness/until.js';
import { ended, gate, startSend } from './bench.js';

let base: Stack;
let bench: Stack;
const held = { reserve: false, reservations: 0, voided: false };
const [mayReserve, maySayVoided] = [gate(), gate()];
beforeAll(async () => {
  base = await openStack({ time: 'real' });
  const { store } = base.deps;
  bench = await openStack({
    time: 'real',
    deps: {
      ...base.deps,
      service: {
        ...base.deps.service,
        sendCrypto: () => Promise.reject(new NotSentError('sendCrypto', 'refused')),
      },
      store: {
        ...store,
        claims: {
          ...store.claims,
          async reserve(key, ...asks) {
            held.reservations += 1;
            if (held.reservations > 1) await mayReserve.opened;
            return store.claims.reserve(key, ...asks);
          },
          async voidAll(...order) {
            const found = await store.claims.voidAll(...order);
            held.voided = true;
            await maySayVoided.opened;
            return found;
          },
        },
      },
    },
  });
});
afterAll(async () => {
  mayReserve.open();
  maySayVoided.open();
  await bench.close();
  await base.close();
});

test('a cancel whose void an attempt finds before the flow knows of it ends the flow as cancelled', async () => {
  const { handle } = await startSend(bench, 'void-first');
  await untilFlow(handle, ({ view }) => view.stage === 'submitting');
  await until('another attempt', () => held.reservations === 2);
  const cancelled = handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] });
  await until('the claim to be void', () => held.voided);
  mayReserve.open();
  // The flow has taken what the attempt found.
  await until('a workflow task after the attempt', async () => {
    const events = (await handle.fetchHistory()).events ?? [];
    const submit = events.find(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'submitStep',
    );
    const done = events.findIndex(
      (event) => String(event.activityTaskCompletedEventAttributes?.scheduledEventId) === String(submit?.eventId),
    );
    return done > 0 && events.slice(done).some((event) => event.workflowTaskCompletedEventAttributes != null);
  });
  maySayVoided.open();
  expect(await cancelled).toEqual({ cancelled: true });
  expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
});

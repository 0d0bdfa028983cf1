import { afterEach, beforeEach } from '@jest/globals';
import { readSettings } from '../../src/config/index.js';
import { createNotifier, NOTIFY_DUTY_MS, type NotifyDeps } from '../../src/notify/index.js';
import { parkedMatterId, type MatterContent } from '../../src/protocol/matters.js';
import { createDuty } from '../../src/store/duties.js';
import type { Store } from '../../src/store/store.js';
import { startReceiver, type Receiver } from '../callbacks/receiver.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

export const SECRET = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
export const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** A store, a receiver of notifications, and processes that notify it, anew for each test. */
export function withNotifying(
  opened: (both: { readonly temporary: TemporaryStore; readonly receiver: Receiver }) => void,
) {
  let temporary: TemporaryStore;
  let receiver: Receiver;
  const stops: (() => Promise<void>)[] = [];
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    receiver = await startReceiver();
    opened({ temporary, receiver });
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    await receiver.close();
    await temporary.remove();
  });

  const targetsOf = (urls: string) => () => readSettings({ NOTIFY_URLS: urls, NOTIFY_SECRETS: SECRET }).notifyTargets;
  /** A gateway or worker that may notify, with a store of its own. */
  const process = async (more: Partial<NotifyDeps> = {}) => {
    const store = await temporary.open();
    const { now } = temporary.clock;
    const notifier = createNotifier({
      matters: store.matters,
      duty: createDuty(store.duties, 'notifying', NOTIFY_DUTY_MS, now),
      targets: targetsOf(`${receiver.url}/hook?key=canary`),
      secrets: () => [SECRET],
      escalateAfterMs: [HOUR, 4 * HOUR],
      places: { gatewayUrl: 'https://towline.example', namespace: 'default', uiUrl: 'https://ui.example' },
      log: { info: () => undefined, warn: () => undefined },
      clock: { nowMs: now, monotonicMs: now, after: () => () => undefined },
      ...more,
    });
    stops.push(() => notifier.stop());
    return { store, notifier };
  };
  const content = (flowId: string): MatterContent & { flowId: string } => ({
    kind: 'parked',
    flowId,
    since: '2026-01-01T00:00:00.000Z',
    reason: 'no_settlement',
    actions: ['keep-waiting', 'mark-completed'],
    amount: '1000.50',
    currency: 'KES',
  });
  const idOf = (flowId: string) => parkedMatterId(flowId, '2026-01-01T00:00:00.000Z');
  const park = (store: Store, flowId: string) => store.matters.open(idOf(flowId), content(flowId));
  return { process, targetsOf, content, idOf, park };
}

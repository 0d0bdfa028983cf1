import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring } from '../../src/keys/index.js';
import type { ReceivedEvent } from '../../src/store/inbox.js';
import { openStore } from '../../src/store/open-store.js';
import type { Store } from '../../src/store/store.js';

export const keyring = createKeyring([{ id: 'test', bytes: new Uint8Array(32).fill(7) }]);

/** A clock that moves only when it is told to. */
export function createClock(startMs = Date.UTC(2026, 0, 1)): { now: () => number; advance: (ms: number) => void } {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance: (ms) => {
      nowMs += ms;
    },
  };
}

export interface TemporaryFolder {
  readonly path: string;
  readonly clock: ReturnType<typeof createClock>;
  /** Another store on the same file, as another process would open it. */
  open(): Promise<Store>;
  remove(): Promise<void>;
}

export async function makeTemporaryFolder(): Promise<TemporaryFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-store-'));
  const path = join(folder, 'store.db');
  const clock = createClock();
  const stores: Store[] = [];
  return {
    path,
    clock,
    async open() {
      const store = await openStore({ path, keyring, now: clock.now });
      stores.push(store);
      return store;
    },
    async remove() {
      await Promise.all(stores.map((store) => store.close()));
      await rm(folder, { recursive: true });
    },
  };
}

let events = 0;

export function anEvent(members: Partial<ReceivedEvent> = {}): ReceivedEvent {
  events += 1;
  return {
    id: `event-${events}`,
    source: 'callback',
    flowId: 'bridge-transfer/r1',
    reference: 'r1',
    status: 'DEPOSITED',
    proof: 'signature',
    contentHash: `hash-${events}`,
    body: { n: events },
    ...members,
  };
}

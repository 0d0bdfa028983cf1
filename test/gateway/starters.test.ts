import { pino } from 'pino';
import { describe, expect, it } from '@jest/globals';
import { recordingStart, settledOwners } from '../../src/gateway/flows/start.js';
import { OtherRequestRefusal } from '../../src/gateway/http/refusal.js';
import type { Roles } from '../../src/protocol/permissions.js';
import type { AuditNote } from '../../src/store/audit.js';
import type { Store } from '../../src/store/store.js';
import type { FlowFacts } from '../../src/temporal/flow-handle.js';
import { until } from '../harness/until.js';
import { withTemporaryStore } from '../store/temporary-store.js';

describe('the starters of a flow', () => {
  /** The id of the start that Temporal took, by flow. */
  const existing = new Map<string, string>();
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  const reader = {
    facts: async (asked: string) => (existing.has(asked) ? ({ startId: existing.get(asked) } as FlowFacts) : undefined),
  };
  const startersOf = (flowId: string) => store.audit.startersOf(flowId);
  type Work = (startId: string, found: () => Promise<void>) => Promise<void>;
  const start = (name: string, flowId: string, work: Work, role: Roles = 'admin') => {
    const deps = {
      store,
      reader,
      logger: pino({ level: 'silent' }),
      budget: { take: () => () => undefined },
    };
    const [kind, reference] = flowId.split('/') as ['onramp', string];
    const request = { definition: {}, address: { kind, reference, flowId }, input: {} };
    return recordingStart(deps, { name, role, means: 'token' }, request, work);
  };
  const take =
    (flowId: string): Work =>
    async (startId) =>
      void existing.set(flowId, startId);
  const refuse = () => Promise.reject(new OtherRequestRefusal('another request', 'r'));

  it('are those whose request was not refused, also if one person sends two at once and the first is refused', async () => {
    let refuseFirst: (() => void) | undefined;
    const first = start('ann', 'onramp/a', async () => {
      await new Promise<void>((resolve) => (refuseFirst = resolve));
      return refuse();
    });
    await until('the first to be under way', () => refuseFirst !== undefined);
    await start('ann', 'onramp/a', take('onramp/a'));
    refuseFirst?.();
    await expect(first).rejects.toThrow(OtherRequestRefusal);
    expect(await startersOf('onramp/a')).toEqual(['ann']);
  });

  it('are recorded once: a repeated request about the existing flow is no other start', async () => {
    await start('ann', 'onramp/b', take('onramp/b'));
    await start('ann', 'onramp/b', async () => undefined);
    await expect(start('ann', 'onramp/b', refuse)).rejects.toThrow(OtherRequestRefusal);
    expect(await startersOf('onramp/b')).toEqual(['ann']);
    expect(await store.audit.list({ limit: 9, flowId: 'onramp/b' })).toHaveLength(1);
  });

  it('are not those whose request was refused', async () => {
    await start('ann', 'onramp/c', take('onramp/c'));
    await expect(start('bob', 'onramp/c', refuse)).rejects.toThrow(OtherRequestRefusal);
    expect(await startersOf('onramp/c')).toEqual(['ann']);
  });

  describe('and its owner', () => {
    const ownerOf = async (flowId: string) => (await store.audit.ownersOf([flowId])).get(flowId)?.name;
    const fails = () => Promise.reject(new Error('Temporal cannot be reached'));

    it('is the name whose start became the flow, and not one whose start never did', async () => {
      await expect(start('ann', 'onramp/d', fails, 'flows')).rejects.toThrow('Temporal cannot be reached');
      await start('bob', 'onramp/d', take('onramp/d'), 'flows');
      expect(await ownerOf('onramp/d')).toBe('bob');
      await expect(start('ann', 'onramp/d', take('onramp/d'), 'flows')).rejects.toThrow(OtherRequestRefusal);
      expect(await ownerOf('onramp/d')).toBe('bob');
      expect((await store.audit.flowsOf('bob', { limit: 9 })).map(({ flowId }) => flowId)).toContain('onramp/d');
    });

    it('is, of two names at once, the one whose start Temporal took, also if the other was recorded first', async () => {
      let send: (() => void) | undefined;
      const shown: string[] = [];
      const first = start(
        'ann',
        'onramp/e',
        async (_startId, found) => {
          await new Promise<void>((resolve) => (send = resolve));
          await found();
          shown.push('the flow of bob');
        },
        'flows',
      );
      await until('the first to be recorded', () => send !== undefined);
      await start('bob', 'onramp/e', take('onramp/e'), 'flows');
      send?.();
      await expect(first).rejects.toThrow(OtherRequestRefusal);
      expect([await ownerOf('onramp/e'), shown]).toEqual(['bob', []]);
    });

    const settledOwnerOf = async (flowId: string) =>
      (await settledOwners({ store, reader })([flowId])).get(flowId)?.name ?? null;

    it('is nobody while only Temporal knows whose start it took, and then that one, also if its request never came back', async () => {
      await expect(start('ann', 'onramp/g', fails, 'flows')).rejects.toThrow('Temporal cannot be reached');
      expect(await ownerOf('onramp/g')).toBe('ann');
      let seen: unknown;
      const cut = start(
        'bob',
        'onramp/g',
        async (startId) => {
          seen = await settledOwnerOf('onramp/g');
          existing.set('onramp/g', startId);
          throw new Error('the gateway was killed');
        },
        'flows',
      );
      await expect(cut).rejects.toThrow('killed');
      expect([seen, await ownerOf('onramp/g')]).toEqual([null, null]);
      // The repeat of the request is not another name's.
      await start('bob', 'onramp/g', (_startId, found) => found(), 'flows');
      expect([await settledOwnerOf('onramp/g'), await ownerOf('onramp/g')]).toEqual(['bob', 'bob']);
      await expect(start('ann', 'onramp/g', (_startId, found) => found(), 'flows')).rejects.toThrow(
        OtherRequestRefusal,
      );
    });

    it('is the name of the start that Temporal took among hundreds that became no flow', async () => {
      const orphans = Array.from({ length: 120 }, (_, n) => ({
        kind: 'start',
        flowId: 'onramp/h',
        actor: 'ann',
        means: 'token',
        subject: `orphan ${n}`,
      }));
      for (const orphan of orphans) await store.audit.append(orphan as AuditNote);
      await start('bob', 'onramp/h', async (startId) => {
        existing.set('onramp/h', startId);
        throw new Error('the gateway was killed');
      }).catch(() => undefined);
      expect(await settledOwnerOf('onramp/h')).toBe('bob');
    });

    it('is nobody if Temporal took a start of which there is no entry, such as that of another client', async () => {
      existing.set('onramp/i', 'a start that a restored store has lost');
      const found = (_startId: string, check: () => Promise<void>) => check();
      await expect(start('ann', 'onramp/i', found, 'flows')).rejects.toThrow(OtherRequestRefusal);
    });

    it('stays who was given the flow, when the same request is sent again', async () => {
      await start('ann', 'onramp/f', take('onramp/f'), 'admin');
      await store.audit.append({ kind: 'give', flowId: 'onramp/f', subject: 'bob', actor: 'root', means: 'token' });
      await start('ann', 'onramp/f', (_startId, found) => found(), 'admin');
      expect(await ownerOf('onramp/f')).toBe('bob');
    });
  });
});

import { pino } from 'pino';
import { describe, expect, it } from '@jest/globals';
import { recordingStart } from '../../src/gateway/flows/start.js';
import { OtherRequestRefusal } from '../../src/gateway/http/refusal.js';
import type { Store } from '../../src/store/store.js';
import type { FlowFacts } from '../../src/temporal/flow-handle.js';
import { until } from '../harness/until.js';
import { withTemporaryStore } from '../store/temporary-store.js';

describe('the starters of a flow', () => {
  const existing = new Set<string>();
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  const startersOf = (flowId: string) => store.audit.startersOf(flowId);
  const start = (name: string, flowId: string, work: () => Promise<void>) => {
    const deps = {
      store,
      reader: { facts: async (asked: string) => (existing.has(asked) ? ({} as FlowFacts) : undefined) },
      logger: pino({ level: 'silent' }),
      budget: { take: () => () => undefined },
    };
    const [kind, reference] = flowId.split('/') as ['onramp', string];
    const request = { definition: {}, address: { kind, reference, flowId }, input: {} };
    return recordingStart(deps, { name, role: 'admin', means: 'token' }, request, work);
  };
  const refuse = () => Promise.reject(new OtherRequestRefusal('another request', 'r'));

  it('are those whose request was not refused, also if one person sends two at once and the first is refused', async () => {
    let refuseFirst: (() => void) | undefined;
    const first = start('ann', 'onramp/a', async () => {
      await new Promise<void>((resolve) => (refuseFirst = resolve));
      return refuse();
    });
    await until('the first to be under way', () => refuseFirst !== undefined);
    await start('ann', 'onramp/a', async () => void existing.add('onramp/a'));
    refuseFirst?.();
    await expect(first).rejects.toThrow(OtherRequestRefusal);
    expect(await startersOf('onramp/a')).toEqual(['ann']);
  });

  it('are recorded once: a repeated request about the existing flow is no other start', async () => {
    await start('ann', 'onramp/b', async () => void existing.add('onramp/b'));
    await start('ann', 'onramp/b', async () => undefined);
    await expect(start('ann', 'onramp/b', refuse)).rejects.toThrow(OtherRequestRefusal);
    expect(await startersOf('onramp/b')).toEqual(['ann']);
    expect(await store.audit.list({ limit: 9, flowId: 'onramp/b' })).toHaveLength(1);
  });

  it('are not those whose request was refused', async () => {
    await start('ann', 'onramp/c', async () => void existing.add('onramp/c'));
    await expect(start('bob', 'onramp/c', refuse)).rejects.toThrow(OtherRequestRefusal);
    expect(await startersOf('onramp/c')).toEqual(['ann']);
  });
});

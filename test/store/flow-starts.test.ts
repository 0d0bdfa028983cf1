import { describe, expect, it } from '@jest/globals';
import { recordForeignStart } from '../../activities/flow-steps.js';
import { onrampFlow } from '../../src/flows/onramp.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import onramp from '../kinds/onramp.js';
import { withTemporaryStore } from './temporary-store.js';

describe('recordForeignStart', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));
  const input = onrampFlow.input.parse(onramp.input('r-1'));
  const startsAfter = async (
    flowId: string,
    startedWith: string | null | undefined,
    definition: Partial<Pick<typeof onrampFlow, 'moneyOf'>> = onrampFlow,
  ) => {
    const order = { flowId, input, ...(startedWith === undefined ? {} : { startedWith }) };
    await recordForeignStart({ store }, definition, order, { input, fingerprint: 'new old' });
    return store.audit.list({ kind: 'start', flowId, limit: 9 });
  };
  const flowIdOf = (word: string) => `onramp/${newReference(word)}`;

  it('records in the audit log, once, a start that no gateway made, as unproven, with its amount', async () => {
    const flowId = flowIdOf('foreign');
    const entry = {
      actor: 'another Temporal client',
      means: 'unproven',
      details: { amount: '1000.5', currency: 'KES' },
    };
    expect(await startsAfter(flowId, null)).toMatchObject([entry]);
    expect(await startsAfter(flowId, null)).toHaveLength(1);
    expect(await startsAfter(flowIdOf('other-content'), 'of something else')).toMatchObject([entry]);
  });

  it('records no amount for a kind that moves no money', async () => {
    const [entry] = await startsAfter(flowIdOf('no-money'), null, {});
    expect(entry).toMatchObject({ means: 'unproven' });
    for (const member of ['amount', 'currency']) expect(entry?.details).not.toHaveProperty(member);
  });

  it('records nothing if a gateway of this store made the start, by a present or earlier key, or that is not known', async () => {
    for (const startedWith of ['new', 'old older', undefined]) {
      expect(await startsAfter(flowIdOf('ours'), startedWith)).toEqual([]);
    }
  });
});

import { describe, expect, it } from '@jest/globals';
import { createFlowStepActivities, recordForeignStart } from '../../activities/flow-steps.js';
import { onrampFlow } from '../../src/flows/onramp.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import onramp from '../kinds/onramp.js';
import { asActivity, depsOver } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

describe('the first step of a flow', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  it('sends for the events that came before it, whichever client started it', async () => {
    const reference = newReference('early');
    const flowId = `onramp/${reference}`;
    const { id } = await store.inbox.receive(anEvent({ flowId, reference }));
    await store.inbox.markUnmatched(flowId, [id], 'no such flow');
    const { prepareFlow } = createFlowStepActivities(depsOver(store));
    await asActivity(() => prepareFlow({ flowId, input: onramp.input(reference), startedWith: null }));
    expect(await store.inbox.get(id)).toMatchObject({ state: 'waiting' });
    expect(await store.inbox.waitingOf(flowId, 9)).toMatchObject([{ id }]);
  });
});

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

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Hold } from './crash-points.js';
import { ACCOUNT } from './fixed.js';
import { endings, openRig, type Rig } from './rig.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

/** The service has executed it, and its answer is on the way. */
const UNDER_WAY: Hold = { word: 'deployed', moment: 'after', step: 'post' };

describe('a worker that is shut down', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await openRig();
  });
  afterAll(() => rig.close());

  it('finishes a POST in progress: no unknown outcome, one execution, and its successor continues', async () => {
    const worker = await rig.worker({ holds: [UNDER_WAY] });
    const reference = newReference(UNDER_WAY.word);
    const handle = await rig.start(transferInput(reference));
    await worker.untilHeld(UNDER_WAY, 1);
    expect(await phase(reference)).toBe('sending');

    worker.order('shutdown');
    worker.order('release');
    expect(await worker.ended).toBe(0);
    expect(await phase(reference)).toBe('answered');

    await rig.worker();
    const [report] = await endings([handle]);
    expect(report?.view.state).toBe('completed');
    expect(report?.view.timeline.filter(({ stage }) => stage === 'outcome-unknown')).toEqual([]);
    expect([...(await rig.executions())]).toEqual([[`createBridgeDeposit ${reference}`, 1]]);
  });

  async function phase(reference: string): Promise<string | undefined> {
    return (await rig.store.claims.get({ account: ACCOUNT, operation: 'createBridgeDeposit', reference }))?.phase;
  }
});

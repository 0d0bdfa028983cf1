import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { until } from '../gateway/setup/until.js';
import type { Hold } from './crash-points.js';
import type { ProcessUnderTest } from './processes.js';
import { endings, openRig, PATIENCE_MS, type Rig } from './rig.js';
import { newReference, transferInput } from './transfers.js';

const N = 20;
const RESERVED: Hold = { word: 'reserved', moment: 'after', step: 'reserve' };
const SENDING: Hold = { word: 'sending', moment: 'before', step: 'post' };

/*
 * A stopped worker keeps its long polls open: the server goes on giving it tasks, each of which costs another timeout of
 * 10 s, and which it does when it wakes. So this takes half a minute, and the zombie has more than its held attempts.
 */
describe(`a worker that is stopped (SIGSTOP), replaced and woken, with ${N} flows at each point`, () => {
  let rig: Rig;
  let zombie: ProcessUnderTest;
  beforeAll(async () => {
    rig = await openRig();
    // No events before the zombie has acted: they alone would keep it from sending, and the fence could not be seen.
    await rig.control('POST', '/clock', { freeze: true });
    zombie = await rig.worker({ holds: [RESERVED, SENDING] });
  }, 60_000);
  afterAll(() => rig.close());

  it('is fenced off where it had only reserved, and its send is the one send where it was sending: executions 1', async () => {
    const reserved = Array.from({ length: N }, () => newReference(RESERVED.word));
    const sending = Array.from({ length: N }, () => newReference(SENDING.word));
    const start = (reference: string): Promise<WorkflowHandle> => rig.start(transferInput(reference));
    const flows = { reserved: await all(reserved, start), sending: await all(sending, start) };
    await Promise.all([zombie.untilHeld(RESERVED, N), zombie.untilHeld(SENDING, N)]);
    zombie.stop();

    const replacement = await rig.worker();
    // No questions to the flows: the server may give those to the sleeper, too.
    const foundUnknown = () => new Set(replacement.claimed('reserve', 'sending')).size === N;
    await until('the replacement to find what is unknown', foundUnknown, PATIENCE_MS);
    const sent = async () => [...(await rig.executions()).keys()].toSorted();
    await until('the replacement to send the rest', async () => (await sent()).length === N, PATIENCE_MS);
    expect(await sent()).toEqual(reserved.map((reference) => `createBridgeDeposit ${reference}`).toSorted());

    zombie.wake();
    zombie.order('release');
    await until('the zombie to be fenced off', () => zombie.claimed('markSending', 'fenced').length === N, PATIENCE_MS);
    await rig.control('POST', '/clock', { unfreeze: true });
    const reports = await endings([...flows.reserved, ...flows.sending]);
    expect(new Set(reports.map(({ view }) => view.state))).toEqual(new Set(['completed']));
    expect(reports.filter(({ view }) => view.timeline.some(({ detail }) => detail.startsWith('parked')))).toEqual([]);
    expect(new Set(zombie.claimed('markSending', 'fenced'))).toEqual(new Set(reserved));
    const executions = await rig.executions();
    for (const reference of [...reserved, ...sending])
      expect(executions.get(`createBridgeDeposit ${reference}`)).toBe(1);
  }, 90_000);
});

function all<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  return Promise.all(items.map(work));
}

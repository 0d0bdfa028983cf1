import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../harness/until.js';
import type { Hold } from './crash-points.js';
import type { ProcessUnderTest } from './processes.js';
import { endings, openRig, type Rig } from './rig.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';

const UNCLAIMED: Hold = { word: 'unclaimed', moment: 'before', step: 'reserve' };
const SENDING: Hold = { word: 'sending', moment: 'before', step: 'post' };

/*
 * A stopped worker keeps its long polls open: the server keeps giving it tasks, each of which costs another timeout,
 * and which it does when it wakes. So the zombie has more than its held attempts.
 */
describe('a worker that is stopped (SIGSTOP), replaced and woken', () => {
  let rig: Rig;
  let zombie: ProcessUnderTest;
  beforeAll(async () => {
    rig = await openRig();
    // No events before the zombie has acted: they alone would keep it from sending, and the fence could not be seen.
    await rig.control('POST', '/clock', { freeze: true });
    // The server's timeouts decide how long it stands still; its clocks do not move. test/store shows the too-late
    // case.
    zombie = await rig.worker({ holds: [UNCLAIMED, SENDING], clocksStand: true });
  });
  afterAll(() => rig.close());

  it('sends nothing that its replacement sent meanwhile, and its send is the one send if it was sending: executions 1', async () => {
    const unclaimed = newReference(UNCLAIMED.word);
    const sending = newReference(SENDING.word);
    const flows = await Promise.all([unclaimed, sending].map((reference) => rig.start(transferInput(reference))));
    await Promise.all([zombie.untilHeld(UNCLAIMED, 1), zombie.untilHeld(SENDING, 1)]);
    zombie.stop();

    const replacement = await rig.worker();
    // No questions to the flows: the server may give those to the sleeper, too.
    const foundUnknown = () => replacement.claimed('reserve', 'sending').includes(sending);
    await until('the replacement to find what is unknown', foundUnknown);
    await until('the replacement to send the other', async () => (await rig.executions()).size > 0);
    expect([...(await rig.executions())]).toEqual([[`createBridgeDeposit ${unclaimed}`, 1]]);

    zombie.wake();
    zombie.order('release');
    const foundClaimed = () => [...zombie.claimed('reserve', 'sending'), ...zombie.claimed('reserve', 'answered')];
    await until('the zombie to find the claim of the other', () => foundClaimed().includes(unclaimed));
    await rig.control('POST', '/clock', { unfreeze: true });
    const reports = await endings(flows);
    expect(reports.map(({ view }) => view.state)).toEqual(['completed', 'completed']);
    expect(reports.filter(({ view }) => view.timeline.some(({ code }) => code === 'parked'))).toEqual([]);
    expect(await rig.executions()).toEqual(
      new Map([unclaimed, sending].map((reference) => [`createBridgeDeposit ${reference}`, 1])),
    );
  });
});

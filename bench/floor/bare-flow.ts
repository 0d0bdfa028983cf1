import { defineSignal, defineUpdate, condition, proxyActivities, setHandler } from '@temporalio/workflow';
import type * as activities from './bare-activities.js';

const { first, second } = proxyActivities<typeof activities>({ startToCloseTimeout: '30 seconds' });
const SIGNALS = 5;

/** What Temporal itself costs: two activities and five signals, all of them empty. */
export async function bareFlow(id: string): Promise<number> {
  let received = 0;
  let answer: string | undefined;
  setHandler(defineSignal('receive'), () => void (received += 1));
  setHandler(defineUpdate('answer'), async () => {
    await condition(() => answer !== undefined);
    return answer;
  });
  await first(id);
  answer = await second(id);
  await condition(() => received >= SIGNALS);
  return received;
}

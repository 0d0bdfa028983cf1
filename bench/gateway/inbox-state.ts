import { setTimeout as sleep } from 'node:timers/promises';
import type { Processes } from '../measure/cpu.js';
import type { Stack } from '../setup/stack.js';
import { until } from '../setup/until.js';

/** Processes whose CPU an event costs. */
export const processesOf = (stack: Stack): Processes => ({
  gateway: stack.gatewayPid(),
  server: stack.serverPid,
  worker: stack.workerPid(),
});

/** For the workflow tasks of the last signals. */
const LAST_TASKS_MS = 300;

export async function allDelivered({ store }: Stack): Promise<void> {
  await until('the events to be delivered', async () => (await store.inbox.counts()).byState.waiting === 0);
  await sleep(LAST_TASKS_MS);
}

/** Then the gateway has nothing left to query. */
export async function allSettled({ store }: Stack): Promise<void> {
  await until('the events to be settled', async () => {
    const { waiting, delivered } = (await store.inbox.counts()).byState;
    return waiting + delivered === 0;
  });
}

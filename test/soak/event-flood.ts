import { deepStrictEqual, ok } from 'node:assert/strict';
import { callbackCapability } from '../../src/flows/capability.js';
import { openRig, untilShown } from '../crash-matrix/rig.js';
import { flood, MOST_SIGNALS_PER_RUN } from '../faults/flood.js';
import { until } from '../harness/until.js';
import type { Soak } from './main.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import { statesOf } from '../store/states-of.js';

const EVENTS = 10_001;
const WITHIN_MS = 300_000;

export default {
  name: 'event-flood',
  says: `fault 32: ${EVENTS} events for one flow, by the gateway`,
  async run(report) {
    const rig = await openRig({ sandbox: { stepMs: 3_600_000 } });
    try {
      await rig.worker();
      const reference = newReference('flood');
      const { workflowId } = await rig.start(transferInput(reference));
      const latest = rig.client.workflow.getHandle(workflowId);
      await untilShown([latest], 'accepted', ({ view }) => view.stage === 'tracking');
      const path = `/callbacks/${workflowId}/${callbackCapability(rig.store, workflowId)}`;
      const { state, taken, signalsByRun } = await flood(rig.client, workflowId, {
        events: EVENTS,
        burst: EVENTS,
        async send(status, n) {
          const answer = await fetch(rig.gatewayUrl + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ provider_reference_id: reference, status, n }),
          });
          deepStrictEqual(answer.status, 200);
        },
        taken: async () =>
          void (await until(
            'all to be delivered',
            async () => (await rig.store.inbox.counts()).byState.waiting === 0,
            WITHIN_MS,
          )),
      });
      deepStrictEqual([state, taken], ['completed', EVENTS]);
      ok(Math.max(...signalsByRun) <= MOST_SIGNALS_PER_RUN, `signals by run: ${signalsByRun.join(' ')}`);
      const settled = async () => {
        const { applied, duplicate } = await statesOf(rig.store.inbox);
        return applied + duplicate === EVENTS;
      };
      await until('every row to be settled', settled, WITHIN_MS);
      report(`${taken} events taken once each; signals by run: ${signalsByRun.join(' ')}`);
    } finally {
      await rig.close();
    }
  },
} satisfies Soak;

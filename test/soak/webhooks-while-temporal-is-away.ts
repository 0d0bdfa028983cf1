import { outage } from '../gateway/setup/outage.js';

/** In waves, one webhook to each flow: few enough of them for a flow that they go as one signal. */
const [PER_SECOND, SECONDS, WAVES] = [50, 120, 40];
const TOTAL = PER_SECOND * SECONDS;
const DRAINED_WITHIN_S = 60;

export default {
  name: 'webhooks-while-temporal-is-away',
  says: `fault 36: ${PER_SECOND} webhooks a second for ${SECONDS} s while Temporal is away`,
  async run(report: (line: string) => void): Promise<void> {
    const after = await outage({ flows: TOTAL / WAVES, waves: WAVES, everyMs: (SECONDS * 1_000) / WAVES });
    const taken = after.statuses.filter((status) => status === 200).length;
    const delivered = new Set(after.delivered);
    const lost = after.stored.filter((id) => !delivered.has(id)).length + (TOTAL - after.stored.length);
    const drainedS = after.drainedMs / 1_000;
    report(
      `${TOTAL} webhooks: answered 200 ${taken}, lost ${lost}, most signals to a flow ${after.mostSignals}, ` +
        `all settled ${drainedS.toFixed(1)} s after the end of the outage`,
    );
    if (taken !== TOTAL || lost > 0 || after.meanwhile.waiting !== TOTAL || drainedS > DRAINED_WITHIN_S) {
      throw new Error(JSON.stringify({ taken, lost, drainedS, meanwhile: after.meanwhile, states: after.states }));
    }
  },
};

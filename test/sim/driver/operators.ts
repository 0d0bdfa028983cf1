import { isOpen, type Run } from '../temporal/run.js';
import type { World } from '../world/world.js';
import type { Journal } from './driver.js';

/**
 * What people do behind the flows' backs: in Temporal's UI they reset flows, closed ones too, and terminate them; and
 * they put the store back from a backup, in the order of docs/deployment.md. None of it is an order about money.
 */
export function startOperators({ acts, weather, timeline, trace, temporal, ...world }: World, journal: Journal): void {
  for (const { flowId } of journal.flows) {
    if (weather.resets) for (let times = acts.int(1, 3); times > 0; times -= 1) timeline.in(someTime(), () => reset(flowId), true); // prettier-ignore
    if (weather.terminations && acts.yes(0.7)) timeline.in(someTime(), () => terminate(flowId), true);
  }
  if (weather.restores) timeline.in(someTime(), backUp, true);

  /** Most happens in a flow's first minutes. */
  function someTime(): number {
    return acts.int(100, acts.one([3_000, 15_000, 60_000, 600_000, 3_600_000]));
  }

  function reset(flowId: string): void {
    const run = temporal.current(flowId);
    if (run === undefined || run.turns.length === 0 || !weather.resets) return;
    const turn = acts.yes(0.5) ? beforeItsPost(run) : acts.int(0, run.turns.length - 1);
    trace.fault(isOpen(run) ? 'reset' : 'reset of a closed flow');
    trace.add('operator', `resets ${flowId}`, `to task ${turn + 1} of ${run.turns.length}`);
    temporal.reset(flowId, turn);
  }

  function terminate(flowId: string): void {
    if (!weather.terminations || !temporal.terminate(flowId)) return;
    trace.fault('termination');
    trace.add('operator', `terminates ${flowId}`);
  }

  function backUp(): void {
    const copy = world.database.copy(timeline.nowMs);
    timeline.in(someTime(), () => {
      if (weather.restores) world.restoreStore(copy, acts.int(1_000, 120_000));
    }, true); // prettier-ignore
  }

  /** The task that requests its first POST, or any earlier one. */
  function beforeItsPost({ turns }: Run): number {
    const at = turns.findIndex(({ commands }) => commands.some(({ scheduleActivity }) => scheduleActivity?.activityType?.startsWith('submit'))); // prettier-ignore
    return acts.int(0, at === -1 ? turns.length - 1 : at);
  }
}

/** How long the dispatcher and the settler wait. One file, so that the figures can be compared. */

const doubled = (firstMs: number, times: number, mostMs: number): number =>
  Math.min(mostMs, firstMs * 2 ** Math.min(times, 20));

/** The flow is not there (yet). One that is started through the gateway hastens its events; others find them in time. */
export const untilFlowExists = (deferrals: number, isOurs: boolean): number =>
  // Anybody can post settlements for flows that never will be; those must not cost a call a minute for ever.
  doubled(1_000, deferrals, isOurs ? 60_000 : 600_000);

/** The flow has a signal that it has not seen: what comes meanwhile goes out with the next one. */
export const untilSignalSeen = (deferrals: number): number => doubled(50, deferrals, 5_000);

/** A flow whose events come thick and fast: they are merged, the more of them the longer they come. */
export const untilNextSignal = (inARow: number): number => doubled(250, inARow, 1_000);

/** Temporal cannot be reached: short, so that a backlog drains soon after. */
export const untilTemporalAnswers = (failures: number): number => doubled(250, failures, 4_000);

/** A flow that cannot say yet what became of its events. */
export const untilNextLook = (looks: number): number => doubled(2_000, looks, 60_000);

/** An event that cannot be opened: a gateway with its key finds it soon, once there is one. */
export const UNTIL_KEY_COMES_MS = 10_000;

/** Temporal answers, but refuses this one flow's signal. */
export const untilFlowHeals = (deferrals: number): number => doubled(1_000, deferrals, 60_000);

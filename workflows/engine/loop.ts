import type { Input, Known, Result, Step } from './known.js';
import { learn } from './learn.js';
import type { End, Plan } from './plan.js';
import { settle } from './settle.js';
import type { Decision } from './decide.js';

/** What the loop needs of Temporal: its clock, its activities and its timers. */
export interface Host {
  readonly nowMs: () => number;
  /** Carries the step out. A step that is given up need not settle. */
  readonly perform: (step: Step, known: Known) => Promise<Result>;
  readonly giveUp: (step: Step) => void;
  /** Resolves at that moment, or somewhat earlier. */
  readonly sleepUntil: (atMs: number, decision: Decision) => Promise<void>;
  /** Resolves once the condition holds. */
  readonly until: (isReady: () => boolean) => Promise<void>;
  /** This run has grown so long that another one should go on. */
  readonly isLong: () => boolean;
  /** Called for each input, after it has become known. */
  readonly onLearnt: (before: Known, input: Input, after: Known) => void;
}

export interface Loop {
  /** From any handler, at any time. */
  readonly take: (input: Input) => void;
  readonly known: () => Known;
  /** Nothing has come that is not known yet. */
  readonly isIdle: () => boolean;
  /** Until the flow ends, or should go on in another run; may be called again if something comes before that one. */
  readonly run: () => Promise<End | 'continue'>;
}

/** These may be begun again in another run: they only ask, or a person was asked and they are tried without an end. */
const ASKS: readonly Step['do'][] = ['ask', 'follow', 'look', 'look-status', 'read-inbox'];
const mayBeBegunAgain = (step: Step): boolean => ASKS.includes(step.do) || step.isParked === true;

/**
 * The one loop: what came in becomes known; decide; report; begin what is wanted and does not run; give up what runs and is
 * not wanted; wait for an input, or for the moment at which to decide again.
 */
export function createLoop(plan: Plan, begun: Known, host: Host): Loop {
  let known = begun;
  let inputs: Input[] = [];
  let isAwake = false;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let failed: { readonly error: unknown } | null = null;

  const become = (input: Input): void => {
    const before = known;
    known = learn(before, input, host.nowMs());
    // An event that came before says nothing; a flood of them must cost nothing.
    if (known !== before || input.is !== 'event') host.onLearnt(before, input, known);
  };

  function begin(step: Step): void {
    // Of a step that was given up meanwhile all is known already.
    const end = (result: Result): void => void (isRunning(step) && inputs.push({ is: 'result', step, result }));
    const fail = (error: unknown): void => void (isRunning(step) && (failed ??= { error }));
    host.perform(step, known).then(end, fail);
  }

  const isRunning = (step: Step): boolean =>
    known.running.some((one) => one.id === step.id && one.beganAtMs === step.beganAtMs);

  function decideNow(): Decision {
    for (const input of inputs.splice(0)) if (input.is !== 'result' || isRunning(input.step)) become(input);
    const { decision, effects, learnt } = settle(known, plan, host.nowMs());
    learnt.forEach(become);
    for (const { do: what, step } of effects) {
      if (what === 'give-up') host.giveUp(step);
      else if (isRunning(step)) begin(step);
    }
    if (decision.end !== null) known.running.forEach(host.giveUp);
    return decision;
  }

  /** One timer serves all moments. One that is early costs a decision, and is left alone: to cancel it costs events. */
  function wakeAt(decision: Decision): void {
    const { wakeAtMs } = decision;
    if (wakeAtMs === null || wakeAtMs >= timerAtMs) return;
    timerAtMs = wakeAtMs;
    const wake = (): void => {
      isAwake = true;
      if (timerAtMs === wakeAtMs) timerAtMs = Number.POSITIVE_INFINITY;
    };
    void host.sleepUntil(wakeAtMs, decision).then(wake);
  }

  const mayContinue = (): boolean =>
    inputs.length === 0 && known.running.every(mayBeBegunAgain) && known.orders.every(({ became }) => became !== null);

  return {
    take: (input) => void inputs.push(input),
    known: () => known,
    isIdle: () => inputs.length === 0,
    async run() {
      for (;;) {
        const decision = decideNow();
        if (decision.end !== null) return decision.end;
        if (host.isLong() && mayContinue()) {
          known.running.forEach(host.giveUp);
          known = { ...known, running: [] };
          return 'continue';
        }
        wakeAt(decision);
        isAwake = false;
        // Bounded by the deadline: every situation that waits names its moment, or a person is asked.
        await host.until(() => inputs.length > 0 || isAwake || failed !== null || (host.isLong() && mayContinue()));
        if (failed !== null) throw failed.error;
      }
    },
  };
}

import { decide, type Decision, type Rulebook } from './decide.js';
import type { Input, Known, Step } from './known.js';
import { learn } from './learn.js';
import type { Plan } from './plan.js';

/** What is to be done outside, in this order. */
export interface Effect {
  readonly do: 'begin' | 'give-up';
  readonly step: Step;
}

export interface Settled {
  readonly known: Known;
  readonly decision: Decision;
  readonly effects: readonly Effect[];
  /** What became known on the way, in its order. */
  readonly learnt: readonly Input[];
  /** Names of all rules that have decided on the way. */
  readonly decided: readonly string[];
}

/** More than any decision needs: rules that say now this and now that are a bug, and the flow waits for the mended version. */
const MOST_TURNS = 100;

/** Decides until what runs is what is wanted, and everything is reported. Pure. */
export function settle(begun: Known, plan: Plan, nowMs: number, book?: Rulebook): Settled {
  let known = begun;
  const effects: Effect[] = [];
  const learnt: Input[] = [];
  const decided: string[] = [];
  const take = (input: Input): void => {
    known = learn(known, input, nowMs);
    learnt.push(input);
  };
  for (let turns = 0; turns < MOST_TURNS; turns += 1) {
    const decision = decide(known, plan, nowMs, book);
    decided.push(decision.rule, ...(decision.orderRule === null ? [] : [decision.orderRule]));
    decision.says.forEach(take);
    if (decision.end !== null) return { known, decision, effects, learnt, decided };
    if (decision.says.length > 0) continue;
    const over = known.running.filter(({ id }) => !decision.steps.some((step) => step.id === id));
    const due = decision.steps.filter(({ id }) => !known.running.some((step) => step.id === id));
    for (const step of over) {
      take({ is: 'cancelled', step });
      effects.push({ do: 'give-up', step });
    }
    for (const step of due) {
      take({ is: 'began', step });
      const began = known.running.find(({ id }) => id === step.id) ?? step;
      effects.push({ do: 'begin', step: began });
    }
    if (over.length + due.length === 0) return { known, decision, effects, learnt, decided };
  }
  throw new Error(`the decisions do not settle: ${decide(known, plan, nowMs, book).rule}`);
}

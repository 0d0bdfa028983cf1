import type { FlowEvent } from '../../src/protocol/messages.js';
import {
  newKnown,
  PLAIN_SEND,
  type Action,
  type Input,
  type Known,
  type Result,
  type StepName,
} from '../../workflows/engine/known.js';
import { learn } from '../../workflows/engine/learn.js';
import type { Plan } from '../../workflows/engine/plan.js';
import { flowView } from '../../workflows/engine/report.js';
import { settle } from '../../workflows/engine/settle.js';
import { newTold, seeing, tell, type Told } from '../../workflows/engine/told.js';

type Checked = Extract<Result, { readonly of: 'check' }>;

export const TIMES = { timeScale: 1, patienceMs: 120_000, settleMs: 90_000, graceMs: 0, deadlineMs: 3_600_000 };
const FRAME = { flowId: 'it/r-1', reference: 'r-1', startedAt: '2026-01-01T00:00:00.000Z' };

/**
 * A flow of this plan, whose steps end as the test says.
 * @param checked what else the check of the input has brought
 */
export function flowOf(plan: Plan, input: unknown = {}, checked: Partial<Checked> = {}) {
  const names = plan.requests.map(({ name }) => name);
  const name = names[0] ?? '';
  let nowMs = 0;
  let known: Known = newKnown(names, { ...TIMES, graceMs: plan.graceMs }, 0);
  let told: Told = newTold(0);
  const become = (one: Input): void => {
    const before = known;
    known = learn(before, one, nowMs);
    told = tell(told, plan, before, one, known, seeing(plan)(nowMs));
  };
  const decide = () => {
    const { learnt, decision } = settle(known, plan, nowMs);
    learnt.forEach(become);
    return decision;
  };
  const take = (one: Input): void => (become(one), void decide());
  const ends = (what: StepName, result: Result): void => {
    const step = known.running.find((one) => one.do === what);
    if (step === undefined) throw new Error(`${what} does not run: ${known.running.map((one) => one.do).join(', ')}`);
    take({ is: 'result', step, result });
  };
  const steps = { [name]: { facts: {} } };
  const prepared = { windows: { settleMs: 90_000 }, steps, input } as never;
  decide();
  const claims = { [name]: { claim: 'free', sent: 'nothing' } } as const;
  ends('check', { of: 'check', prepared, refusal: null, claims, events: [], ...checked });
  const shown = () => flowView(plan, FRAME, known, told, null, nowMs);
  const flow = {
    known: () => known,
    shown,
    decide,
    ends,
    codes: () => told.timeline.map(({ code }) => code),
    event: (event: FlowEvent) => take({ is: 'event', event }),
    runs: (what: StepName) => known.running.some((one) => one.do === what),
    answered: (answer: unknown = {}) => ends('send', { ...PLAIN_SEND, answer: 'accepted', shown: { answer } }),
    unanswered: () => ends('send', { ...PLAIN_SEND, answer: 'unknown', shown: { why: 'it was lost' } }),
    looksUp: (word: string) => ends('follow', { of: 'follow', lookup: 'shown', word, shown: {} }),
    at(ms: number) {
      nowMs = ms;
      return decide();
    },
    order: (action: Action, more: { readonly eventId?: string; readonly invoice?: string } = {}) => {
      const parkedSinceMs = known.parked?.sinceMs ?? null;
      const order = { id: `${nowMs} ${action}`, action, actor: 'ada', note: 'seen', untilMs: null, parkedSinceMs };
      take({ is: 'order', order: { eventId: null, invoice: null, described: null, ...order, ...more } });
    },
    /** At the deadline nothing new is found. */
    overdue() {
      nowMs = known.deadlineAtMs;
      decide();
      ends('read-inbox', { of: 'read-inbox', events: [] });
      if (known.running.some((one) => one.do === 'look-status'))
        ends('look-status', {
          of: 'follow',
          lookup: 'shown',
          word: known.requests[name]?.words.at(-1) ?? null,
          shown: {},
        });
    },
  };
  return flow;
}

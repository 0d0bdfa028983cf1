import { systemClock, type Clock } from '../../clock.js';
import type { FlowReader } from '../../temporal/flow-handle.js';
import type { Asker } from '../../temporal/questions.js';

export interface ParkedRun {
  readonly flowId: string;
  readonly runId: string;
  readonly reason: string | null;
}

/**
 * Since when flows are parked, ISO 8601, by their ids, as their workers report it. Flows without an answer in time are
 * left out. A flow that parks again for the same reason within a minute is shown with the earlier time.
 */
export type ParkedSince = (flows: readonly ParkedRun[]) => Promise<ReadonlyMap<string, string>>;

/** For all lists of the gateway, which share their questions. */
const LISTS: Asker = { name: 'lists' };
const ASKED_AT_ONCE = 4;
/** A list waits this long at most. */
const WITHIN_MS = 4_000;
const KNOWN_FOR_MS = 60_000;
const MOST_KNOWN = 10_000;

interface Question {
  readonly flowId: string;
  /** When the last list stops waiting for the answer. */
  wantedUntilMs: number;
  readonly answered: Promise<string | undefined>;
  readonly answer: (since: string | undefined) => void;
}

export function createParkedSince(reader: Pick<FlowReader, 'reportOfOpen'>, clock: Clock = systemClock): ParkedSince {
  /** The oldest first. */
  const known = new Map<string, { readonly since: string; readonly untilMs: number }>();
  const open = new Map<string, Question>();
  const waiting: string[] = [];
  let asking = 0;

  async function ask(key: string, { flowId }: Question): Promise<string | undefined> {
    const since = (await reader.reportOfOpen(flowId, LISTS).catch(() => undefined))?.view.parked?.since;
    if (since === undefined) return undefined;
    known.delete(key);
    known.set(key, { since, untilMs: clock.monotonicMs() + KNOWN_FOR_MS });
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    return since;
  }

  async function askWaiting(): Promise<void> {
    if (asking >= ASKED_AT_ONCE) return;
    asking += 1;
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
      const question = open.get(key);
      if (question === undefined) continue;
      const isWanted = question.wantedUntilMs > clock.monotonicMs();
      question.answer(isWanted ? await ask(key, question) : undefined);
      open.delete(key);
    }
    asking -= 1;
  }

  function questionAbout(key: string, flowId: string, wantedUntilMs: number): Promise<string | undefined> {
    const before = open.get(key);
    if (before !== undefined) {
      before.wantedUntilMs = wantedUntilMs;
      return before.answered;
    }
    let answer: Question['answer'] = () => undefined;
    const answered = new Promise<string | undefined>((resolve) => (answer = resolve));
    open.set(key, { flowId, wantedUntilMs, answered, answer });
    waiting.push(key);
    void askWaiting();
    return answered;
  }

  return async (flows) => {
    const nowMs = clock.monotonicMs();
    const found = new Map<string, string>();
    const all = flows.map(async ({ flowId, runId, reason }) => {
      const key = `${flowId} ${runId} ${reason}`;
      const before = known.get(key);
      const isKnown = before !== undefined && before.untilMs > nowMs;
      const since = isKnown ? before.since : await questionAbout(key, flowId, nowMs + WITHIN_MS);
      if (since !== undefined) found.set(flowId, since);
    });
    await new Promise<void>((resolve) => {
      const stop = clock.after(WITHIN_MS, resolve);
      void Promise.all(all).then(() => (stop(), resolve()));
    });
    return new Map(found);
  };
}

import { condition } from '@temporalio/workflow';
import { isFinal, KYC_WORDS, meaningOf, type Meaning } from '../../src/flows/meanings.js';
import type { FlowEvent } from '../../src/flows/messages.js';
import { act } from '../steps/activities.js';
import { checkInput } from '../steps/check-input.js';
import { hearEvents, NO_EVIDENCE, whoSays, type Evidence } from '../steps/evidence.js';
import type { Flow } from '../steps/flow.js';
import { tooLong } from '../steps/go-on-as-new.js';
import { lookAtInbox } from '../steps/look-at-inbox.js';
import { KYC_LOOK_EVERY_MS, LAST_LOOK, POLL, SETTLE_PATIENCE_MS } from '../steps/policies.js';
import { unlessStopped } from '../steps/stop.js';
import { observed, within } from '../steps/waits.js';

/** The wait for one KYC record. Nothing moves in it, and nothing is claimed. Travels through continue-as-new. */
export interface KycCheck extends Evidence {
  readonly input: unknown;
  /** What the lookup said, in order. Only it decides: an event is a hint. */
  words: readonly string[];
  /** What trusted events said. */
  told: readonly string[];
  /** A trusted event said something final: look now. */
  lookNow: boolean;
}

/** Checks the input. */
export async function prepareCheck(flow: Flow, rawInput: unknown): Promise<KycCheck> {
  const prepared = await unlessStopped(flow, () => checkInput(flow, rawInput));
  flow.hearPlaintext(prepared.allowPlaintext);
  flow.enter('tracking', 'waiting for the decision');
  return { ...NO_EVIDENCE, input: prepared.input, words: [], told: [], lookNow: false };
}

export function decisionOf(check: KycCheck): Meaning {
  return check.words.map((word) => meaningOf(KYC_WORDS, word)).find(isFinal) ?? 'pending';
}

/** From now on events make it look. Runs inside signal handlers: pure of commands. */
export function hearDecisions(flow: Flow, check: KycCheck): void {
  hearEvents(flow, check, {
    known: () => ({}),
    differs: () => [],
    seen: (event) => event.status !== null && check.words.includes(event.status),
    apply: (event) => apply(flow, check, event),
  });
}

function apply(flow: Flow, check: KycCheck, event: FlowEvent): boolean {
  const word = event.status;
  if (word === null || check.told.includes(word)) return false;
  check.told = [...check.told, word];
  check.lookNow ||= isFinal(meaningOf(KYC_WORDS, word));
  flow.note(`${word} (${event.proof ?? 'trusted'})`, whoSays(event));
  return true;
}

/** Polls, seldom while no event hints at a decision; returns at the next word, event, order or deadline. */
export async function waitForDecision(flow: Flow, check: KycCheck): Promise<void> {
  const hinted = check.lookNow || check.told.some((word) => isFinal(meaningOf(KYC_WORDS, word)));
  const everyMs = flow.scaled(KYC_LOOK_EVERY_MS);
  const firstLookMs = check.lookNow || check.words.length === 0 ? 0 : everyMs;
  check.lookNow = false;
  const polling = observed(() =>
    act(POLL, 'Look up the KYC record', flow.timeScale).awaitStatus({
      flowId: flow.flowId,
      input: check.input,
      known: check.words,
      firstLookMs,
      timeScale: flow.timeScale,
      ...(hinted ? {} : { atLeastMs: everyMs }),
    }),
  );
  await condition(
    () => polling.settled() || check.lookNow || flow.stop !== null || flow.deadlinePassed || tooLong(flow),
  );
  if (polling.settled()) takeReading(flow, check, (await polling.promise).status);
  else polling.cancel();
}

/** At the deadline, and when an event comes after it. */
export async function lookOnceMore(flow: Flow, check: KycCheck): Promise<void> {
  check.lookNow = false;
  await lookAtInbox(flow);
  const order = { flowId: flow.flowId, input: check.input };
  const found = await within(flow, SETTLE_PATIENCE_MS, () =>
    act(LAST_LOOK, 'Deadline: look once more', flow.timeScale)
      .lookAtStatus(order)
      .catch(() => undefined),
  );
  if (found?.says === 'shown') takeReading(flow, check, found.record.status);
  else if (found?.says !== 'absent') flow.note('the service could not be asked at the deadline');
}

function takeReading(flow: Flow, check: KycCheck, status: string | null): void {
  if (status === null || check.words.includes(status)) return;
  check.words = [...check.words, status];
  check.proven = true;
  flow.note(`${status} (looked up)`, 'service');
}

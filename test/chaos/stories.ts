import { groupBy } from '../end-to-end/reconcile/group-by.js';
import { at } from '../end-to-end/reconcile/json.js';
import type { Violation, Witnesses } from '../end-to-end/reconcile/witnesses.js';
import type { WireRequest } from '../harness/wire-log.js';
import { stepsOf, timeOfDay, type FlowHistory, type Report } from './histories.js';
import { referenceOf } from './on-the-wire.js';
import type { Injection } from './own-faults.js';

/** What each witness saw of one flow, with which a red run can be traced after its folders are gone. */
export interface Story {
  /** Its own view: the parked state, the outcome, the timeline. */
  readonly flow: unknown;
  readonly injections: readonly Injection[];
  /** `13:05:01.200 WORKFLOW_TASK_TIMED_OUT`, of its last run. */
  readonly history: readonly string[];
  /** Requests to the service, first to last: `13:05:01.200 GET /path → 404 in 3 ms`. */
  readonly wire: readonly string[];
  readonly deliveries: readonly { status: string; isGenuine: boolean; answers: readonly (number | null)[] }[];
  readonly claims: Witnesses['claims'];
  readonly inbox: readonly object[];
}

/** More would be read by nobody. */
const MOST = 50;

/**
 * By flow id: of flows that a violation names.
 * @param wanted references of more
 */
export function storiesOf(
  run: Witnesses & {
    readonly injections: readonly Injection[];
    readonly reports: ReadonlyMap<string, Report>;
    readonly histories: readonly FlowHistory[];
  },
  violations: readonly Violation[],
  wanted: readonly string[],
): Readonly<Record<string, Story>> {
  const wire = groupBy(run.wire ?? [], referenceOf);
  const histories = new Map(run.histories.map((history) => [history.workflowId, history]));
  const named = run.flows.filter(({ reference }) => wanted.includes(reference) || isNamed(reference, violations));
  const stories = named.slice(0, MOST).map(({ flowId, reference }) => {
    const names = [reference, `${reference}.refund`];
    const isOfIt = (one: { readonly reference: string }) => names.includes(one.reference);
    const story: Story = {
      flow: at(run.reports.get(flowId)?.said, 'view'),
      history: stepsOf(histories.get(flowId)),
      injections: run.injections.filter(isOfIt),
      wire: names.flatMap((name) => wire.get(name) ?? []).map(shown),
      deliveries: run.deliveries
        .filter(isOfIt)
        .map(({ status, isGenuine, answers }) => ({ status, isGenuine, answers })),
      claims: run.claims.filter(isOfIt),
      inbox: run.inbox.filter((row) => row.flowId === flowId).map(withoutBody),
    };
    return [flowId, story] as const;
  });
  return Object.fromEntries(stories);
}

/** Whether a violation is of this reference. */
export function isNamed(reference: string, violations: readonly Violation[]): boolean {
  const word = new RegExp(`${reference.replaceAll('.', '\\.')}(?!\\d)`);
  return violations.some(({ what }) => word.test(what));
}

function shown({ method, path, status, atMs, answeredAtMs }: WireRequest): string {
  const answer = status === null ? 'no answer' : `${status} in ${(answeredAtMs ?? atMs) - atMs} ms`;
  return `${timeOfDay(atMs)} ${method} ${path} → ${answer}`;
}

function withoutBody(row: Witnesses['inbox'][number]): object {
  const { id, status, state, source, isTrusted, repeats } = row;
  return { id, status, state, source, isTrusted, repeats };
}

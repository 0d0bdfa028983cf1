import { describe, expect, it } from '@jest/globals';
import { LAST_LOOK, POLL, READ, STORE, SUBMIT } from '../../workflows/engine/policies.js';
import { AT_LEAST_MS } from '../../workflows/engine/waits.js';
import { allFiles, readSource } from './sources.js';

/** Waits whose bound is not in the call itself, by their file and first words, with their bound. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'workflows/bridge/prepare.ts condition(() => approval.by': 'the deadline, by unlessStopped around it',
  'workflows/bridge/prepare.ts condition(() => approval.isTaken': 'the flow, which takes it, parks or ends',
  'workflows/invoice/pay-updates.ts condition(() => served !==':
    'the preparation of the flow, which ends at the deadline',
  'workflows/invoice/pay-updates.ts condition(() => payment.answers': 'the flow, which parks or ends at its deadline',
  'workflows/engine/look.ts condition(() => polling.settled()': 'the park around it, which takes orders and reminds',
  'workflows/engine/run-flow.ts condition(() => canContinueAsNew': 'handlers and callbacks, each bounded by itself',
  'workflows/engine/run-flow.ts condition(() => allHandlersFinished': 'handlers and callbacks, each bounded by itself',
  'workflows/engine/stop.ts condition(() => flow.stopping': 'tryStop, which asks store and service for a bounded time',
  'workflows/invoice/pay-updates.ts condition(() => !flow.isEnding':
    'the check of the end, which goes on, parks or ends',
  'workflows/engine/run-flow.ts condition(() => flow.view().outcome': 'the flow, whose stop is decided: it ends',
  'workflows/engine/run-flow.ts condition(() => flow.stopping':
    'tryStop, which asks store and service for a bounded time',
  'workflows/engine/run-flow.ts condition(() => flow.resolution':
    'park, which asks inbox and service once and then decides',
  'workflows/engine/run-flow.ts condition(() => flow.answer': 'the flow, which answers, parks or ends at its deadline',
  'workflows/engine/report-changes.ts condition(() => hasChanged': 'the flow: it watches beside it',
  'workflows/engine/report-changes.ts condition(() => waiting.length': 'the flow: it hands on beside it',
  'workflows/callback-delivery.ts condition(() => sending.settled()':
    'CALLBACK_TRIED_FOR_MS, by which the activity gives up',
  'workflows/bridge/deposit.ts act(policy': 'the deadline, by submitUntilDeadline around Post.send',
  'workflows/bridge/refund.ts act(submitPolicy(': 'the deadline, by submitUntilDeadline around Post.send',
  'workflows/engine/submit-payment.ts act(submitPolicy(': 'the deadline, by submitUntilDeadline around Post.send',
  'workflows/invoice-payment.ts act(READ': 'the deadline, by within or unlessPaid around it',
  'workflows/bridge/prepare.ts act(READ': 'the deadline, by unlessStopped around it',
  'workflows/engine/activities.ts act(READ': 'the deadline, by unlessStopped around it',

  'workflows/card-deposit.ts act({ ...policy': 'one attempt, with schedule-to-start and start-to-close',
  'workflows/card-deposit.ts act({ ...CARD_SUBMIT': 'one attempt, with schedule-to-start and start-to-close',
  'workflows/refund-invoice.ts act(READ': 'nothing that can be away: it decodes what it is given',
  'workflows/engine/run-flow.ts act(STORE': 'the Temporal server, which runs this very workflow',
  'workflows/callback-delivery.ts act(CALLBACK': 'CALLBACK_TRIED_FOR_MS, by which the activity gives up',
  'workflows/invoice/look-for-payment.ts act(STORE': 'the flow, beside which it is tried: nothing waits for it',
  'workflows/callback-delivery.ts act(STORE': 'nothing that can be away: it writes a line of log',

  'workflows/engine/flow.ts sleep(': 'it is the deadline',
  'workflows/card-deposit.ts sleep(delayMs': 'CARD_LIFE_MS, in which all of its pauses together end',
  'workflows/engine/activities.ts proxyActivities<': 'each call of act, which is found above',
  'workflows/engine/activities.ts proxyLocalActivities<': 'CHECK: one attempt of two seconds',
  'workflows/engine/report-changes.ts getExternalWorkflowHandle(':
    'the Temporal server, which takes the signal or says that the delivery has ended',
  'workflows/engine/report-changes.ts startChild<': 'the Temporal server, which starts it or says that it runs',
};

/**
 * What workflows use of the SDK besides, and wait for by nothing of it. `cancelRequested` of a scope is watched beside the
 * flow, or comes at once from the server that was asked for it.
 */
const WAITS_FOR_NOTHING: readonly string[] = [
  'ActivityFailure',
  'allHandlersFinished',
  'ApplicationFailure',
  'CancellationScope',
  'continueAsNew',
  'defineQuery',
  'defineSignal',
  'defineUpdate',
  'isCancellation',
  'ParentClosePolicy',
  'rootCause',
  'setCurrentDetails',
  'setHandler',
  'TemporalFailure',
  'TimeoutFailure',
  'upsertMemo',
  'upsertSearchAttributes',
  'uuid4',
  'workflowInfo',
];

/** Run inside these, an activity or a pause ends at the deadline, after a time, or with the wait that watches it. */
const WRAPPERS = /(within|observed|unlessStopped|submitUntilDeadline)\([^;]*$/;

/**
 * Everything of the SDK that a flow can wait for, and our own names for it. A type argument may stand before the bracket.
 */
const WAITS =
  /(?<![\w.])(?:condition|act|sleep|proxyActivities|proxyLocalActivities|startChild|executeChild|getExternalWorkflowHandle)[(<]/g;

interface Wait {
  readonly path: string;
  /** The call with all its arguments, on one line. */
  readonly call: string;
  /** The text before it, from the beginning of its statement. */
  readonly before: string;
}

const waits: readonly Wait[] = allFiles()
  .filter((path) => path.startsWith('workflows/') && path.endsWith('.ts'))
  .flatMap((path) => {
    const { text } = readSource(path);
    return [...text.matchAll(WAITS)]
      .filter(({ index }) => !text.slice(0, index).endsWith('function '))
      .map(({ index }) => ({
        path,
        call: callAt(text, index).replaceAll(/\s+/g, ' ').replace('( ', '('),
        before: text.slice(Math.max(0, index - 400), index),
      }));
  });

describe('patience with store and service', () => {
  it.each(Object.entries({ READ, STORE, POLL, SUBMIT, LAST_LOOK }))(
    'is longer than it takes to notice that a worker died, however short the waits of the flow are: %s',
    (_, { heartbeatTimeout, startToCloseTimeout }) => {
      expect(Number(heartbeatTimeout ?? startToCloseTimeout)).toBeLessThan(AT_LEAST_MS);
    },
  );
});

describe('each wait of a workflow', () => {
  it('has a bound: a time, the deadline, or the one that is written down here', () => {
    expect(waits.length).toBeGreaterThan(40);
    const unbounded = waits.filter((wait) => boundOf(wait) === undefined).map(({ path, call }) => `${path} ${call}`);
    expect(unbounded).toEqual([]);
  });

  it('that is written down here is there', () => {
    const used = waits.flatMap((wait) => elsewhereOf(wait) ?? []);
    expect(Object.keys(ELSEWHERE).filter((known) => !used.includes(known))).toEqual([]);
  });

  it('is of every sort that the SDK has: pauses, children, external signals and local activities, too', () => {
    const sorts = new Set(waits.map(({ call }) => /^\w+/.exec(call)?.[0]));
    const expected = 'act condition getExternalWorkflowHandle proxyActivities proxyLocalActivities sleep startChild';
    expect(sorts).toEqual(new Set(expected.split(' ')));
    // No file waits by anything of the SDK that is not found here.
    const imported = allFiles()
      .filter((path) => path.startsWith('workflows/') && path.endsWith('.ts'))
      .flatMap((path) => importedFromSdk(readSource(path).text));
    expect(imported.filter((name) => !sorts.has(name) && !WAITS_FOR_NOTHING.includes(name))).toEqual([]);
  });

  it('would be missed if its bound went', () => {
    const wait = (call: string, before = '') => boundOf({ path: 'workflows/x.ts', call, before });
    expect(wait('condition(() => news())')).toBeUndefined();
    expect(wait('condition(() => news(a, b))')).toBeUndefined();
    expect(wait('condition(() => news(), 5_000)')).toBe('a time');
    expect(wait('condition(() => news() || flow.deadlinePassed)')).toBe('the deadline');
    expect(wait('act(STORE)', 'const done = await ')).toBeUndefined();
    expect(wait('act(STORE)', 'await within(flow, A, () =>\n  ')).toBe('within');
    expect(wait('sleep(1_000)')).toBeUndefined();
    expect(wait('sleep(1_000)', 'await submitUntilDeadline(flow, claim, () => ')).toBe('submitUntilDeadline');
    expect(wait('startChild<Child>(name, options)')).toBeUndefined();
    expect(wait('getExternalWorkflowHandle(id)')).toBeUndefined();
    expect(wait('proxyLocalActivities<Checks>(CHECK)')).toBeUndefined();
  });
});

function boundOf(wait: Wait): string | undefined {
  const { call, before } = wait;
  if (!call.startsWith('condition(')) {
    const statement = before.slice(before.lastIndexOf(';') + 1);
    const wrapper = WRAPPERS.exec(statement)?.[1];
    return wrapper ?? ELSEWHERE[elsewhereOf(wait) ?? ''];
  }
  if (hasSecondArgument(call)) return 'a time';
  return call.includes('flow.deadlinePassed') ? 'the deadline' : ELSEWHERE[elsewhereOf(wait) ?? ''];
}

/** Names of values; types are no waits. */
function importedFromSdk(text: string): readonly string[] {
  const lists = text.matchAll(/^import \{([^}]*)\} from '@temporalio\/workflow';/gm);
  return [...lists]
    .flatMap(([, list = '']) => list.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '));
}

const elsewhereOf = ({ path, call }: Wait) =>
  Object.keys(ELSEWHERE).find((known) => `${path} ${call}`.startsWith(known));

/** From a call's name to its closing bracket. */
function callAt(text: string, index: number): string {
  let depth = 0;
  for (let at = index; at < text.length; at += 1) {
    if ('([{'.includes(text[at] ?? '')) depth += 1;
    if (')]}'.includes(text[at] ?? '') && (depth -= 1) === 0) return text.slice(index, at + 1);
  }
  return text.slice(index);
}

function hasSecondArgument(call: string): boolean {
  let depth = 0;
  // A trailing comma does not count.
  const argument = call.replace(/,\s*\)$/, ')');
  for (const sign of argument) {
    if ('([{'.includes(sign)) depth += 1;
    if (')]}'.includes(sign)) depth -= 1;
    if (sign === ',' && depth === 1) return true;
  }
  return false;
}

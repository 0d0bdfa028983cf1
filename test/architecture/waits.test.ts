import { describe, expect, it } from '@jest/globals';
import { LAST_LOOK, POLL, READ, STORE, SUBMIT } from '../../workflows/engine/policies.js';
import { AT_LEAST_MS } from '../../workflows/engine/waits.js';
import { shippedSources } from './sources.js';
import { unboundedWaits, unknownOfSdk } from './waits.js';

const workflows = shippedSources().filter(({ path }) => path.startsWith('workflows/'));

describe('patience of a flow with store and service', () => {
  it.each(Object.entries({ READ, STORE, POLL, SUBMIT, LAST_LOOK }))(
    'is longer than it takes to notice that a worker died, however short the waits of the flow are: %s',
    (_, { heartbeatTimeout, startToCloseTimeout }) => {
      expect(Number(heartbeatTimeout ?? startToCloseTimeout)).toBeLessThan(AT_LEAST_MS);
    },
  );
});

describe('the rule that each wait of a workflow is bounded', () => {
  it('holds for all workflows', () => {
    expect(workflows.length).toBeGreaterThan(30);
    expect(workflows.flatMap(unboundedWaits)).toEqual([]);
  });

  it('knows everything of the SDK that workflows import', () => {
    expect(workflows.flatMap(unknownOfSdk)).toEqual([]);
    const text = "import { sleep, type Next, Trigger } from '@temporalio/workflow';";
    expect(unknownOfSdk({ path: 'x.ts', text })).toEqual(['x.ts: Trigger']);
  });

  it.each([
    'await condition(() => news());',
    'await condition(() => news(a, b));',
    'const done = await act(STORE).voidClaim();',
    'await sleep(1_000);',
    'await startChild<Child>(name, options);',
    'getExternalWorkflowHandle(id);',
    'const checks = proxyLocalActivities<Checks>(CHECK);',
    '// Bounded by a time.\nfirst();\nawait sleep(1_000);',
    '// It is bounded.\nawait sleep(1_000);',
  ])('finds %j', (text) => {
    expect(unboundedWaits({ path: 'x.ts', text })).toHaveLength(1);
  });

  it.each([
    'await condition(() => news(), 5_000);',
    'await condition(() => news() || flow.deadlinePassed);',
    'await within(flow, A, () =>\n  act(STORE).voidClaim());',
    'await submitUntilDeadline(flow, claim, () => sleep(1_000));',
    '// Bounded by a time.\nawait sleep(1_000);',
    'const f = {\n  // Bounded by the flow, which ends\n  // at its deadline.\n  run: () => sleep(1_000),\n};',
  ])('lets %j pass', (text) => {
    expect(unboundedWaits({ path: 'x.ts', text })).toEqual([]);
  });
});

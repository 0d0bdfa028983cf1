import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { workflowTypeOf } from '../../src/protocol/vocabulary.js';
import { KINDS } from '../harness/kinds.js';
import { flowInput } from '../harness/kind.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';

/** Only a run that continues another one has what that one hands on: who starts a flow must not bring it. */
describe('a flow that is started with the state of a run that never was', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20 } });
  });
  afterEach(() => bench.terminateAll());
  afterAll(() => bench.close());

  it.each(KINDS.map((kind) => [kind.kind, kind] as const))('checks its input as any other: %s', async (name, kind) => {
    const reference = newReference('invented');
    const invented = { flow: { stage: 'invented', startedAt: '2020-01-01T00:00:00.000Z' }, payment: {}, transfer: {} };
    const handle = await bench.client.workflow.start(workflowTypeOf(name), {
      workflowId: `${name}/${reference}`,
      taskQueue: bench.taskQueue,
      args: [flowInput(kind, reference), invented],
    });
    const { view } = await untilFlow(
      handle,
      (report) => report.view.stage !== 'preparing' || report.view.outcome !== null,
    );
    expect(view.startedAt).not.toBe(invented.flow.startedAt);
    expect(view.stage).not.toBe('invented');
  });
});

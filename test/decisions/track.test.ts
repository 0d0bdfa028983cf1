import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { FlowEvent } from '../../src/protocol/messages.js';
import { endOf, order, parked } from '../flows/ramps.js';
import { trusted } from '../harness/inputs.js';
import { flowInput } from '../harness/kind.js';
import { KINDS } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type Stack } from '../harness/stack.js';

let bench: Stack;
beforeAll(async () => {
  bench = await openStack({ time: 'skipping', sandbox: { stepMs: 5 } });
});
afterEach(() => bench.terminateAll());
afterAll(() => bench.close());

async function start(kind: 'bank-checkout' | 'crypto-send' | 'offramp', ending: string, more: object = {}) {
  const reference = newReference('followed');
  const named = KINDS.find((one) => one.kind === kind);
  if (named === undefined) throw new Error(`no ${kind}`);
  await bench.control('POST', '/scenarios', { reference, ending, operation: named.record });
  const handle = await bench.startFlow(kind, reference, { ...flowInput(named, reference), ...more });
  return { reference, handle };
}
const untrusted = (status: string) => trusted(status, { trusted: false, proof: null });
const briefly = ({ id, status, receivedAt }: FlowEvent) => ({ id, status, receivedAt });

describe('the evidence of a parked payment that only events report has what is proven, by what, and what is claimed', () => {
  const checkout = async () => {
    const { handle } = await start('bank-checkout', 'never');
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    return handle;
  };

  test.each([[[]], [['PENDING']]])('when its events exclude one another, beside the claims %j', async (words) => {
    const handle = await checkout();
    const claims = words.map(untrusted);
    await handle.signal('events', [...claims, trusted('SUCCESSFUL'), trusted('FAILED')]);
    const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
    expect(view.parked?.reason).toBe('conflict');
    expect(view.parked?.evidence).toEqual({
      words: ['SUCCESSFUL', 'FAILED'],
      why: expect.any(String),
      code: 'proofs_exclude_one_another',
      ...(claims.length === 0 ? {} : { claimed: claims.map(briefly) }),
    });
    await handle.terminate();
  });

  test('when a claim contradicts its proven failure', async () => {
    const handle = await checkout();
    const claim = untrusted('SUCCESSFUL');
    await handle.signal('events', [claim, trusted('FAILED')]);
    const { view } = await parked(bench, handle);
    expect(view.parked?.reason).toBe('conflict');
    expect(view.parked?.evidence).toEqual({
      words: ['FAILED'],
      why: expect.any(String),
      code: 'unverified_event_against_it',
      claimed: [briefly(claim)],
    });
    await order(handle, 'mark-completed');
    expect((await endOf(handle)).view).toMatchObject({ state: 'completed' });
  });
});

test('a claimed success is no unverified settlement when a lookup of the service finds none', async () => {
  const { handle } = await start('crypto-send', 'never', { deadlineSeconds: 600 });
  await untilFlow(handle, ({ view }) => view.stage === 'tracking');
  const claim = untrusted('SUCCESSFUL');
  await handle.signal('events', [claim, untrusted('PROCESSING')]);
  const { view } = await parked(bench, handle);
  expect(view.parked).toMatchObject({ reason: 'no_settlement', evidence: { claimed: [briefly(claim)] } });
  await handle.terminate();
});

test('a refund that failed, and that the service made while the flow is parked, ends the flow as refunded', async () => {
  const { reference, handle } = await start('offramp', 'refund-failed');
  expect((await parked(bench, handle)).view.parked?.reason).toBe('refund_failed');
  const { service } = bench.deps;
  const record = await service.getOfframp(reference);
  // The sandbox itself never moves on from there.
  const asked = jest.spyOn(service, 'getOfframp').mockResolvedValue({ ...record, status: 'REFUNDED' });
  const { view } = await endOf(handle);
  asked.mockRestore();
  expect(view.outcome).toMatchObject({ state: 'refunded', reason: null });
  expect(view.timeline.map(({ code }) => code)).toContain('decided-meanwhile');
});

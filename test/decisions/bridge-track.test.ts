import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { ended, inInbox, noted, openDecisionBench, parked, resolve } from './bench.js';

const untrusted = (status: string) => trusted(status, { trusted: false, proof: null });

describe('a bridge transfer that is not settled by its deadline', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench(() => ({}));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  /** Its deadline comes after a minute. */
  const overdue = async (word: string, ...statuses: readonly string[]) => {
    const reference = newReference(word);
    const input = transferInput(reference, { timeScale: 0.01, deadlineSeconds: 6_000 });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', statuses.map(untrusted));
    await decisions.bench.pass(61_000);
    return { reference, handle, view: await parked(handle) };
  };

  test.each(['COMPLETED', 'FAILED', 'REFUNDED'])('parks with the %s that is claimed and not proven', async (word) => {
    const { handle, view } = await overdue('claimed', 'SETTLING', word);
    expect(view.parked).toMatchObject({ reason: 'unverified_settlement', evidence: { proven: [] } });
    expect(view.parked?.evidence['claimed']).toMatchObject([{ status: word }]);
    await handle.terminate();
  });

  test('parks as not settled when what is claimed is no ending', async () => {
    const { handle, view } = await overdue('on-the-way', 'SETTLING', 'A_WORD_OF_TOMORROW');
    expect(view.parked).toMatchObject({ reason: 'no_settlement', evidence: { proven: [] } });
    await handle.signal('events', [trusted('COMPLETED')]);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('ends by the claim that a person trusts', async () => {
    const { handle } = await overdue('vouched', 'COMPLETED');
    await resolve(handle, 'trust-settlement');
    const view = await ended(handle);
    expect(view.outcome).toMatchObject({ state: 'completed' });
    expect(view.timeline.map(({ code }) => code).slice(-3)).toEqual(['order-taken', 'event-applied', 'ended']);
  });

  test('ends by a proof that comes while it is parked with a claim', async () => {
    const { handle } = await overdue('proven-late', 'COMPLETED');
    await handle.signal('events', [trusted('REFUNDED')]);
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
  });

  test('waits on until the time that a person gives, and reads its inbox again before the next question', async () => {
    const { handle, view } = await overdue('waits-on');
    const until = new Date(Date.parse(view.updatedAt) + 90_000).toISOString();
    await handle.executeUpdate('resolve', { args: [{ action: 'keep-waiting', note: 'slow', actor: 'ada', until }] });
    const { view: waiting } = await untilFlow(handle, (report) => report.view.state === 'running');
    expect(waiting).toMatchObject({ deadlineAt: until, stage: 'tracking' });
    // It never reaches the flow as a signal.
    await inInbox(decisions, handle.workflowId, 'COMPLETED');
    await decisions.bench.pass(91_000);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  test('parks a second time when nothing has come by the time that a person gave', async () => {
    const { handle } = await overdue('asked-again');
    await resolve(handle, 'keep-waiting');
    await decisions.bench.pass(61_000);
    const { view } = await noted(handle, 'parked', 'no_settlement', 2);
    expect(view.parked?.actions).toEqual(['keep-waiting', 'mark-completed', 'mark-failed', 'mark-refunded']);
    await handle.terminate();
  });
});

import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { RateLimitedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import { trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import { ended, entriesOf, gate, openDecisionBench, parked, startSend, TIME_SCALE } from './bench.js';

const DAY_MS = 86_400_000;

describe('DECLINED, which may be the word of the service for a duplicate', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  /** What comes of each POST, in turn; then it is carried out. */
  let posts: (() => Promise<unknown>)[] = [];
  /** The word of the looked-up crypto send; undefined: the sandbox's. */
  let shown: string | undefined;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      sendCrypto: async (body) => {
        const sent = await service.sendCrypto(body);
        await posts.shift()?.();
        return sent;
      },
      getCryptoSend: async (reference) => {
        const record = await service.getCryptoSend(reference);
        return shown === undefined ? record : { ...record, status: shown };
      },
      createBankWithdrawal: async (body) => {
        await posts.shift()?.();
        return service.createBankWithdrawal(body);
      },
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const lost = () => Promise.reject(new UnknownOutcomeError('createBankWithdrawal', 'timeout'));
  const busy = () => Promise.reject(new RateLimitedError('createBankWithdrawal', 1));
  const withdraw = async (...before: (() => Promise<unknown>)[]) => {
    posts = before;
    const reference = newReference('declined');
    const input = { ...bankWithdrawal.input(reference), timeScale: TIME_SCALE, deadlineSeconds: 200_000 };
    return decisions.bench.startFlow('bank-withdrawal', reference, input);
  };
  const said = (handle: WorkflowHandle, word: string) =>
    untilFlow(handle, ({ view }) => entriesOf(view, 'event-applied', word).length > 0 || view.outcome !== null);
  const report = async (handle: WorkflowHandle, word: string) => {
    await handle.signal('events', [trusted(word)]);
    return (await said(handle, word)).view;
  };

  test('ends a payment that was sent once, and answered', async () => {
    const handle = await withdraw();
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('DECLINED')]);
    await decisions.bench.pass(120_000);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });

  test.each([
    ['whose answer was lost', 'outcome-unknown', [lost]],
    ['that was sent again, since the service had turned it away', 'tracking', [busy]],
  ])('ends no payment %s: what it was sent for may go on', async (_, stage, before) => {
    const handle = await withdraw(...before);
    await untilFlow(handle, ({ view }) => view.stage === stage);
    expect((await report(handle, 'DECLINED')).outcome).toBeNull();
    await decisions.bench.pass(120_000);
    expect((await untilFlow(handle, () => true)).view).toMatchObject({ outcome: null, parked: null });
    await report(handle, 'SUCCESSFUL');
    expect((await ended(handle)).state).toBe('completed');
  });

  test('ends no payment whose answer was lost after it came', async () => {
    const held = gate();
    const handle = await withdraw(() => held.opened.then(lost));
    await untilFlow(handle, ({ view }) => view.stage === 'submitting');
    await handle.signal('events', [trusted('DECLINED')]);
    held.open();
    const { view } = await untilFlow(handle, (flow) => flow.view.stage === 'tracking' || flow.view.outcome !== null);
    expect(view.outcome).toBeNull();
    await report(handle, 'SUCCESSFUL');
    expect((await ended(handle)).state).toBe('completed');
  });

  test('is a matter for a person at the deadline, if nothing else comes', async () => {
    const handle = await withdraw(lost);
    await untilFlow(handle, ({ view }) => view.stage === 'outcome-unknown');
    await report(handle, 'DECLINED');
    await decisions.bench.pass(DAY_MS);
    const view = await parked(handle);
    expect(view.parked).toMatchObject({ reason: 'no_settlement', evidence: { words: ['DECLINED'] } });
    await handle.terminate();
  });

  test('of a lookup ends no payment whose answer was lost either, and FAILED does', async () => {
    posts = [() => Promise.reject(new UnknownOutcomeError('sendCrypto', 'timeout'))];
    shown = 'DECLINED';
    const { handle } = await startSend(decisions.bench, 'declined', { deadlineSeconds: 2_592_000 });
    const looked = ({ view }: FlowReport) =>
      entriesOf(view, 'status-looked-up', 'DECLINED').length > 0 || view.outcome !== null;
    expect((await untilFlow(handle, looked)).view.outcome).toBeNull();
    shown = 'FAILED';
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'failed_at_service' });
  });
});

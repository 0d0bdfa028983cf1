import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { CauseCode } from '../../src/protocol/causes.js';
import { NotSentError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { ended, inInbox, openDecisionBench, parked, resolve, startSend } from '../decisions/bench.js';
import { bundleFor } from '../harness/core-bundle.js';
import { noted } from '../harness/reports.js';

const MINUTE_MS = 60_000;
const LONG = { deadlineSeconds: 2_592_000 };
/** No connection to the service: each attempt is proven not sent, and repeated soon. */
const unreachable = (): Promise<never> => Promise.reject(new NotSentError('sendCrypto', 'refused'));
const lost = (): Promise<never> => Promise.reject(new UnknownOutcomeError('sendCrypto', 'timeout'));
const away = (): Promise<never> => Promise.reject(new StoreUnavailableError('AWAY', 'database'));
const refusal = (type: CauseCode) => ({ cause: { type } });
const cancel = (handle: WorkflowHandle) => handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] });

/** Of the engine of rules, in words: what the model finds in every order, some of it with real activities and a real store. */
describe('a crypto send that is decided by rules', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let sending: (() => Promise<never>) | undefined;
  beforeAll(async () => {
    const workflowBundle = await bundleFor({ engine: 'rules' });
    decisions = await openDecisionBench(
      (service) => ({
        sendCrypto: (body) => (sending === undefined ? service.sendCrypto(body) : sending()),
      }),
      {},
      workflowBundle,
    );
  });
  afterEach(() => {
    jest.restoreAllMocks();
    sending = undefined;
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const waiting = async (word: string) => {
    sending = unreachable;
    const started = await startSend(decisions.bench, word, LONG);
    await noted(started.handle, 'sending');
    return started;
  };
  const unknown = async (word: string) => {
    sending = lost;
    const started = await startSend(decisions.bench, word, LONG);
    expect((await parked(started.handle)).parked?.reason).toBe('not_found_at_service');
    return started;
  };

  it('is cancelled before anything was sent, and its claim is void', async () => {
    const { handle, reference } = await waiting('cancelled');
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect((await ended(handle)).outcome).toMatchObject({ state: 'cancelled', reason: 'cancelled_before_sending' });
    expect(await decisions.executions('sendCrypto', reference)).toBe(0);
  });

  it('is cancelled by the Temporal UI, too', async () => {
    const { handle } = await waiting('in-the-ui');
    await handle.cancel();
    expect((await ended(handle)).outcome).toMatchObject({ state: 'cancelled' });
  });

  it('is not cancelled while the store is away, and is cancelled once that is back', async () => {
    const { handle } = await waiting('store-away');
    const voids = jest.spyOn(decisions.store.claims, 'voidAll').mockImplementation(away);
    await expect(cancel(handle)).rejects.toMatchObject(refusal('store_unavailable'));
    voids.mockRestore();
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect((await ended(handle)).outcome).toMatchObject({ state: 'cancelled' });
  });

  it('is not cancelled if an event is in the inbox that has not reached it: it is followed', async () => {
    const { handle, reference } = await waiting('event-in-inbox');
    await inInbox(decisions, `crypto-send/${reference}`, 'PENDING');
    await expect(cancel(handle)).rejects.toMatchObject(refusal('event_reports_it'));
    await noted(handle, 'proven');
  });

  it('answers an order by what the store said, and not before', async () => {
    const { handle } = await unknown('not-closed');
    await decisions.bench.pass(2 * MINUTE_MS);
    const closing = jest.spyOn(decisions.store.claims, 'closeNotExecuted').mockImplementation(away);
    await expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject(refusal('store_unavailable'));
    closing.mockRestore();
    await resolve(handle, 'close-not-executed');
    expect((await ended(handle)).outcome).toMatchObject({ state: 'failed', reason: 'not_executed' });
  });

  it('refuses an order against a proof that came in meanwhile, and goes on by it', async () => {
    const { handle, reference } = await unknown('proof-came');
    await decisions.bench.pass(2 * MINUTE_MS);
    await inInbox(decisions, `crypto-send/${reference}`, 'PENDING');
    await expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject({ cause: { type: expect.any(String) } });
    await noted(handle, 'proven');
  });
});

import type { CauseCode } from '../../src/protocol/causes.js';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  NotSentError,
  RateLimitedError,
  ServiceUnavailableError,
  UnknownOutcomeError,
} from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { bank } from '../flows/invoice-payment-setup.js';
import { ACCOUNT } from '../harness/fixed.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import kycCheck from '../kinds/kyc-check.js';
import { ended, noted, openDecisionBench, parked, READING_MS, resolve, startSend, TIME_SCALE } from './bench.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LONG = { timeScale: TIME_SCALE, deadlineSeconds: 2_592_000 };

/** No connection to the service: each attempt is proven not sent, and repeated soon. */
const unreachable = (): Promise<never> => Promise.reject(new NotSentError('sendCrypto', 'refused'));
/** The service takes no crypto send now: each attempt is turned away, and repeated in an hour. */
const busy = (): Promise<never> => Promise.reject(new RateLimitedError('sendCrypto', HOUR_MS));

let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
let sending: (() => Promise<never>) | undefined = busy;
let isQuoted = true;
let attempts = 0;
beforeAll(async () => {
  decisions = await openDecisionBench((service) => ({
    async sendCrypto(body) {
      attempts += 1;
      return sending === undefined ? service.sendCrypto(body) : sending();
    },
    async quoteBridge(body) {
      if (!isQuoted) throw new ServiceUnavailableError('quoteBridge', 'http-status', 503);
      return service.quoteBridge(body);
    },
  }));
});
afterEach(() => {
  jest.restoreAllMocks();
  [sending, isQuoted, attempts] = [busy, true, 0];
});
afterEach(() => decisions.bench.terminateAll());
afterAll(() => decisions.close());

const away = () => Promise.reject(new StoreUnavailableError('AWAY', 'database'));
const cancel = (handle: WorkflowHandle, more = {}) =>
  handle.executeUpdate('cancel', { args: [{ actor: 'ann', ...more }] });
const refusal = (type: CauseCode) => ({ cause: { type } });
const UNKNOWN = refusal('store_unavailable');
const REJECTION = { httpStatus: 400, message: 'limit', fields: [], isRateExpired: false };

const awaitingApproval = async (word: string) => {
  const handle = await decisions.bench.start(transferInput(newReference(word), { approval: 'required', ...LONG }));
  await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
  return handle;
};
/** A crypto send that was not executed by its first attempt. */
const waiting = async (word: string, more: Record<string, unknown> = LONG) => {
  const before = attempts;
  const { reference, handle } = await startSend(decisions.bench, word, more);
  await until('an attempt', () => attempts > before);
  return { reference, handle };
};

describe('a flow that has sent nothing', () => {
  test.each([
    [{}, 'Cancelled by ann (unproven) before any money moved.'],
    [{ note: 'not wanted' }, 'Cancelled by ann (unproven) (not wanted) before any money moved.'],
  ])('is cancelled, with actor and note in its outcome: %j', async (more, detail) => {
    const handle = await awaitingApproval('by-whom');
    expect(await cancel(handle, more)).toEqual({ cancelled: true });
    const outcome = { state: 'cancelled', reason: 'cancelled_before_sending', detail };
    expect((await ended(handle)).outcome).toEqual(outcome);
  });

  test('is not cancelled while its claims cannot be voided; once the store is back, it is', async () => {
    const handle = await awaitingApproval('no-claims');
    const store = jest.spyOn(decisions.store.claims, 'voidAll').mockImplementation(away);
    await Promise.all([expect(cancel(handle)).rejects.toMatchObject(UNKNOWN), decisions.bench.pass(READING_MS)]);
    expect((await untilFlow(handle, () => true)).view.outcome).toBeNull();
    store.mockRestore();
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
  });

  test('is not cancelled while the store cannot say whether an earlier run of it has paid its invoice', async () => {
    const reference = newReference('no-word');
    const input = { referenceId: reference, currency: 'KES', amount: '1000.50', bank, ...LONG };
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    await noted(handle, 'awaiting-payment');
    const store = jest.spyOn(decisions.store.claims, 'voidAll').mockImplementation(away);
    await Promise.all([expect(cancel(handle)).rejects.toMatchObject(UNKNOWN), decisions.bench.pass(READING_MS)]);
    store.mockRestore();
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
  });

  test('is not cancelled when a trusted event reports that the service has it, whatever untrusted ones report', async () => {
    const handle = await awaitingApproval('early-event');
    const untrusted = { trusted: false, proof: null };
    await handle.signal('events', [trusted('DEPOSIT_INITIATED'), trusted('DEPOSIT_INITIATED', untrusted)]);
    await expect(cancel(handle)).rejects.toMatchObject(refusal('event_reports_it'));
    await handle.terminate();
  });

  test('is cancelled although an untrusted event reports that the service has it', async () => {
    const handle = await awaitingApproval('early-claim');
    await handle.signal('events', [trusted('DEPOSIT_INITIATED', { trusted: false, proof: null })]);
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
  });

  test('gives up the step that it waits for at its deadline, if an earlier run of it may have sent: a person is asked', async () => {
    isQuoted = false;
    const reference = newReference('step');
    const flowId = `bridge-transfer/${reference}`;
    const key = { account: ACCOUNT, operation: 'createBridgeDeposit', reference };
    await decisions.store.claims.reserve(key, { owner: 'gone', flowId, fingerprint: 'f' });
    await decisions.store.claims.markSending(key, 'gone');
    const input = transferInput(reference, { timeScale: TIME_SCALE, deadlineSeconds: 60_000 });
    const handle = await decisions.bench.start(input);
    await decisions.bench.pass(60_000 * 1_000 * TIME_SCALE);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'step_failed',
      evidence: { code: 'earlier_run_may_have_sent' },
    });
    expect((await parked(handle)).parked?.evidence).not.toHaveProperty('claimed');
    await handle.terminate();
  });

  test('and gets no answer to its step by its deadline expires', async () => {
    isQuoted = false;
    const more = { timeScale: TIME_SCALE, deadlineSeconds: 600 };
    const handle = await decisions.bench.start(transferInput(newReference('no-answer'), more));
    await decisions.bench.pass(MINUTE_MS);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'expired', reason: 'deadline_passed' });
  });
});

describe('a flow whose POST was not sent yet', () => {
  test('is cancelled: its claim is void, and nothing is sent under it any more', async () => {
    const { handle } = await waiting('void');
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect((await ended(handle)).outcome).toMatchObject({ reason: 'cancelled_before_sending' });
    const [claim] = await decisions.store.claims.ofFlow(handle.workflowId);
    expect(claim).toMatchObject({ phase: 'void', reason: 'cancelled' });
    sending = undefined;
    await decisions.bench.pass(2 * HOUR_MS);
    expect(attempts).toBe(1);
  });

  test.each(['sending', 'rejected'] as const)('is not cancelled if its claim is %s by then', async (phase) => {
    const { handle } = await waiting(`claim-${phase}`);
    const { claims } = decisions.store;
    const [claim] = await claims.ofFlow(handle.workflowId);
    await claims.markSending(claim!, claim!.owner);
    if (phase === 'rejected') await claims.recordRejection(claim!, claim!.owner, REJECTION);
    await expect(cancel(handle)).rejects.toMatchObject(refusal('money_may_have_moved'));
    await handle.terminate();
  });

  test('ends as cancelled by a cancel that was refused, since the answer of the store that voided its claim was lost', async () => {
    sending = unreachable;
    const { handle } = await waiting('lost-answer');
    const { claims } = decisions.store;
    const write = claims.voidAll.bind(claims);
    const lost = jest.spyOn(claims, 'voidAll').mockImplementation(async (...order) => {
      await write(...order);
      return away();
    });
    await Promise.all([expect(cancel(handle)).rejects.toMatchObject(UNKNOWN), decisions.bench.pass(READING_MS)]);
    lost.mockRestore();
    await decisions.bench.pass(HOUR_MS);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'cancelled' });
  });

  test('expires right at its deadline, if its claim can be voided', async () => {
    sending = unreachable;
    const { handle } = await waiting('expires', { timeScale: 1, deadlineSeconds: 60 });
    await decisions.bench.pass(MINUTE_MS + 5_000);
    expect((await ended(handle)).outcome).toMatchObject({ state: 'expired', reason: 'deadline_passed' });
  });
});

describe('a send that was ordered again, and could not be sent by its deadline', () => {
  /** Its answer is lost, a person orders another send, and the service takes none. */
  const ordered = async (word: string) => {
    sending = () => Promise.reject(new UnknownOutcomeError('sendCrypto', 'timeout'));
    const { handle } = await startSend(decisions.bench, word, { timeScale: TIME_SCALE, deadlineSeconds: 20_000 });
    await parked(handle);
    sending = busy;
    await resolve(handle, 'send-again');
    await until('another attempt', () => attempts === 2);
    return handle;
  };
  const atDeadline = () => decisions.bench.pass(20_000 * 1_000 * TIME_SCALE + READING_MS);
  const codes = async (handle: WorkflowHandle) =>
    (await untilFlow(handle, ({ view }) => view.state === 'parked')).view.timeline.map(({ code }) => code);

  test('is held back: no attempt sends it after that', async () => {
    const handle = await ordered('held-back');
    await expect(cancel(handle)).rejects.toMatchObject(refusal('money_may_have_moved'));
    await atDeadline();
    expect(await codes(handle)).not.toContain('may-still-send');
    const [claim] = await decisions.store.claims.ofFlow(handle.workflowId);
    expect(claim?.phase).toBe('sending');
    sending = undefined;
    await decisions.bench.pass(2 * HOUR_MS);
    expect(attempts).toBe(2);
    await handle.terminate();
  });

  test('is reported as still on its way when the store does not answer', async () => {
    const handle = await ordered('not-held-back');
    jest.spyOn(decisions.store.claims, 'recordDecision').mockImplementation(away);
    await atDeadline();
    expect(await codes(handle)).toContain('may-still-send');
    await handle.terminate();
  });
});

describe('a flow that moves nothing itself', () => {
  const watching = async (word: string, more: Record<string, unknown> = LONG) => {
    const reference = newReference(word);
    await decisions.bench.deps.service.getKycStatus(reference).catch(() => undefined);
    return decisions.bench.startFlow('kyc-check', reference, { ...kycCheck.input(reference), ...more });
  };

  test('is cancelled, although a trusted event reports that the service has its record', async () => {
    const handle = await watching('reported');
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    // Not a word that its polling may have seen before.
    await handle.signal('events', [trusted('IN_REVIEW')]);
    await noted(handle, 'status-unknown', 'IN_REVIEW');
    expect(await cancel(handle)).toEqual({ cancelled: true });
    expect(await ended(handle)).toMatchObject({ state: 'cancelled' });
  });

  test('and whose first step was never done by its deadline parks; once the store is back the service is asked', async () => {
    const store = jest.spyOn(decisions.store.deployment, 'read').mockImplementation(away);
    const handle = await watching('never-begun', { deadlineSeconds: 60 });
    await until('the store to be tried', () => store.mock.calls.length > 0);
    await decisions.bench.pass(5 * MINUTE_MS);
    const code = 'never_asked';
    expect((await parked(handle)).parked).toMatchObject({ reason: 'step_failed', evidence: { code } });
    store.mockRestore();
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'no_decision');
    expect(await resolve(handle, 'mark-completed')).toEqual({ accepted: true });
    expect((await ended(handle)).outcome).toMatchObject({ state: 'completed' });
  });
});

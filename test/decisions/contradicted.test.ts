import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { RejectedError, UnknownOutcomeError } from '../../src/service-client/index.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import type { FlowReport } from '../../src/api/flow.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import cryptoSend from '../kinds/crypto-send.js';
import {
  ended,
  entriesOf,
  inInbox,
  noted,
  openDecisionBench,
  parked,
  READING_MS,
  resolve,
  TIME_SCALE,
} from './bench.js';

const LONG_SECONDS = 360_000;

describe('a failure that an event in the inbox contradicts, which never came to the flow', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let isSendLost = false;
  let isWithdrawalRefused = false;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      sendCrypto: (body) =>
        isSendLost ? Promise.reject(new UnknownOutcomeError('sendCrypto', 'timeout')) : service.sendCrypto(body),
      createBankWithdrawal: async (body) => {
        if (!isWithdrawalRefused) return service.createBankWithdrawal(body);
        await inInbox(decisions, `bank-withdrawal/${body.referenceId}`, 'FAILED');
        const refusal = { httpStatus: 400, message: 'Insufficient Funds', fields: [], isAboutReference: false };
        throw new RejectedError('createBankWithdrawal', { ...refusal, isRateExpired: false });
      },
      // A proxy sends it twice: the first one is executed, and the answer is that of the second.
      createOnramp: async (body) => {
        await service.createOnramp(body);
        await inInbox(decisions, `onramp/${body.referenceId}`, 'SUCCESSFUL');
        const refusal = { httpStatus: 400, message: 'Rate Expired', fields: [], isAboutReference: false };
        throw new RejectedError('createOnramp', { ...refusal, isRateExpired: true });
      },
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  test('does not end an onramp whose rate the service reports as expired: its payment is followed', async () => {
    const reference = newReference('rate');
    const handle = await decisions.bench.startFlow('onramp', reference, {
      referenceId: reference,
      fiatAmount: '1000.50',
      currency: 'KES',
      chain: 'CELO',
      token: 'USDC',
      receiverAddress: '0x1111111111111111111111111111111111111111',
      rateId: 'rate-1',
      mobileMoney: { accountName: 'A', phoneNumber: '+254712345678', providerNetwork: 'MPESA' },
      timeScale: TIME_SCALE,
      deadlineSeconds: LONG_SECONDS,
    });
    const { view } = await untilFlow(
      handle,
      (report) => report.view.outcome !== null || report.view.stage === 'fiat-leg',
    );
    expect(view.outcome).toBeNull();
    expect(await decisions.executions('createOnramp', reference)).toBe(1);
    await handle.terminate();
  });

  test('leaves the refusal in the claim if it only agrees with it, so that the caller gets it', async () => {
    const reference = newReference('agreed');
    const input = { ...bankWithdrawal.input(reference), timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS };
    isWithdrawalRefused = true;
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, input);
    expect(await ended(handle)).toMatchObject({ state: 'failed' });
    isWithdrawalRefused = false;
    const [claim] = await decisions.store.claims.ofFlow(`bank-withdrawal/${reference}`);
    expect(claim).toMatchObject({ phase: 'rejected', rejection: { message: 'Insufficient Funds' } });
  });

  test('does not end a withdrawal as failed', async () => {
    const reference = newReference('withdrawal');
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, {
      referenceId: reference,
      amount: '100',
      currency: 'ZAR',
      bankDetails: {
        name: 'A',
        address: 'B',
        phoneNumber: '+27821234567',
        bankCode: '632005',
        accountNumber: '4000000000',
        country: 'ZA',
      },
      timeScale: TIME_SCALE,
      deadlineSeconds: LONG_SECONDS,
    });
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await inInbox(decisions, handle.workflowId, 'SUCCESSFUL');
    await handle.signal('events', [trusted('FAILED')]);
    // Found before the end is decided, and not only by its last check, which shows no words.
    const words = ['FAILED', 'SUCCESSFUL'];
    expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict', evidence: { words } });
    await handle.terminate();
  });

  test('does not end a bridge transfer as failed: a person is asked', async () => {
    const input = transferInput(newReference('transfer'), { timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await inInbox(decisions, handle.workflowId, 'COMPLETED');
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
    const proven = ['COMPLETED', 'FAILED'];
    expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict', evidence: { proven } });
    await handle.terminate();
  });

  test.each(['SUCCESSFUL', 'REVERSED'])(
    "does not end a crypto send as failed by the service's status, against a trusted %s",
    async (word) => {
      const why = 'what is proven excludes one another';
      const reference = newReference('looked-up');
      const input = { ...cryptoSend.input(reference), timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS };
      const handle = await decisions.bench.startFlow('crypto-send', reference, input);
      await untilFlow(handle, ({ view }) => view.stage === 'tracking');
      await inInbox(decisions, handle.workflowId, word);
      await decisions.move(reference, 'FAILED', 'sendCrypto');
      expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict', evidence: { why } });
      await handle.terminate();
    },
  );

  /** Parks one whose answer was lost, and orders `close-not-executed`. @param closed runs while that is written down */
  const closedMeanwhile = async (closed: (handle: WorkflowHandle) => Promise<unknown>, type = 'event_reports_it') => {
    const reference = newReference('meanwhile');
    const { claims } = decisions.store;
    const write = claims.closeNotExecuted.bind(claims);
    isSendLost = true;
    const input = { ...cryptoSend.input(reference), timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS };
    const handle = await decisions.bench.startFlow('crypto-send', reference, input);
    jest.spyOn(claims, 'closeNotExecuted').mockImplementation(async (key, order) => {
      const isClosed = await write(key, order);
      await closed(handle);
      return isClosed;
    });
    await parked(handle);
    await expect(resolve(handle, 'close-not-executed')).rejects.toMatchObject({ cause: { type } });
    isSendLost = false;
    return handle;
  };
  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each(['SUCCESSFUL', 'PENDING'])(
    'does not end one as not executed if a trusted %s came while its claim was being closed: it is followed',
    async (word) => {
      const handle = await closedMeanwhile(({ workflowId }) => inInbox(decisions, workflowId, word));
      const { view } = await noted(handle, 'proven');
      expect(view.outcome).toBeNull();
      await noted(handle, 'closed-and-reported');
      await handle.terminate();
    },
  );

  test('does not end one as not executed against an event of another amount that came meanwhile: it parks with both', async () => {
    const other = trusted('SUCCESSFUL', { facts: { cryptoAmount: '9' } });
    const handle = await closedMeanwhile((flow) => flow.signal('events', [other]), 'event_came');
    const { view } = await untilFlow(handle, (report) => report.view.parked?.reason === 'event_mismatch');
    expect(view.parked?.evidence).toMatchObject({ theirs: { cryptoAmount: '9' } });
    await resolve(handle, 'dismiss-event');
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'not_executed' } });
  });

  test('does not cancel a transfer that waits for its approval', async () => {
    const long = { timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS };
    const handle = await decisions.bench.start(
      transferInput(newReference('cancelled'), { approval: 'required', ...long }),
    );
    await untilFlow(handle, ({ view }) => view.stage === 'awaiting-approval');
    await inInbox(decisions, handle.workflowId, 'PAYMENT_SENT');
    await expect(handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toMatchObject({
      cause: { type: 'event_reports_it' },
    });
    await handle.terminate();
  });

  test('does not end a transfer whose failure a later event reports as early, against a COMPLETED of another amount', async () => {
    const input = transferInput(newReference('other-amount'), { timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('FAILED')]);
    await untilFlow(handle, ({ view }) => view.stage === 'refunding');
    await handle.signal('events', [
      trusted('COMPLETED', { facts: { settlementAmount: '99', settlementCurrency: 'ZAR' } }),
      trusted('FAILED', { facts: { failureStage: 'deposit' } }),
    ]);
    expect((await parked(handle)).parked?.reason).toBe('event_mismatch');
    await handle.terminate();
  });

  /** The store does not answer before the flow has given up reading its inbox that many times. */
  const awayFor = (handle: WorkflowHandle, readings: number) => {
    const { inbox } = decisions.store;
    const hasToMatch = inbox.hasToMatch.bind(inbox);
    jest.spyOn(inbox, 'hasToMatch').mockImplementation(async (reference) => {
      const { view } = await handle.query<FlowReport>('flow');
      const given = entriesOf(view, 'inbox-not-read');
      if (given.length < readings) throw new StoreUnavailableError('AWAY', 'database');
      return hasToMatch(reference);
    });
  };
  const VETOED = {
    reason: 'conflict',
    evidence: { why: 'an unverified event claims another ending, or cannot be read' },
  };

  test('does not end a withdrawal as failed against an untrusted word that is read only by the last check', async () => {
    const reference = newReference('read-late');
    const input = { ...bankWithdrawal.input(reference), timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS };
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    awayFor(handle, 1);
    await inInbox(decisions, handle.workflowId, 'SUCCESSFUL', { proof: null });
    await handle.signal('events', [trusted('FAILED')]);
    await decisions.bench.pass(READING_MS);
    await untilFlow(handle, ({ view }) => view.state === 'parked' || view.outcome !== null);
    expect((await handle.query<FlowReport>('flow')).view.parked).toMatchObject(VETOED);
    await resolve(handle, 'mark-completed');
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
  });

  const ANOTHER = 'an unverified event claims another ending than the one that is proven';
  test.each([
    ['COMPLETED', { reason: 'conflict', evidence: { why: ANOTHER } }],
    ['REFUNDED', { reason: 'conflict', evidence: { why: ANOTHER } }],
    ['PAYMENT_CONFIRMED', { reason: 'refund_needed' }],
  ])(
    'does not end a transfer as failed early against an untrusted %s that is read only by the last check',
    async (status, asked) => {
      const reference = newReference('read-late');
      const input = transferInput(reference, { timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS });
      const handle = await decisions.bench.start(input);
      await untilFlow(handle, ({ view }) => view.stage === 'tracking');
      awayFor(handle, 1);
      const body = { provider_reference_id: reference };
      await inInbox(decisions, handle.workflowId, status, { proof: null, body });
      await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
      await decisions.bench.pass(2 * READING_MS);
      await untilFlow(handle, ({ view }) => view.state === 'parked' || view.outcome !== null);
      expect((await handle.query<FlowReport>('flow')).view.parked).toMatchObject(asked);
      await handle.terminate();
    },
  );

  test('ends one that nothing contradicts', async () => {
    const input = transferInput(newReference('alone'), { timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'failed_at_service' } });
  });
});

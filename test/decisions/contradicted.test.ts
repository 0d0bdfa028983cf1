import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RejectedError } from '../../src/service-client/index.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { ended, inInbox, openDecisionBench, parked, TIME_SCALE } from './bench.js';

const LONG_SECONDS = 360_000;

describe('a failure that an event in the inbox contradicts, which never came to the flow', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      // Something on the way sends it twice: the first one is executed, and the answer is that of the second.
      createOnramp: async (body) => {
        await service.createOnramp(body);
        await inInbox(decisions, `onramp/${body.referenceId}`, 'SUCCESSFUL');
        const refusal = { httpStatus: 400, message: 'Rate Expired', fields: [], isAboutReference: false };
        throw new RejectedError('createOnramp', { ...refusal, isRateExpired: true });
      },
    }));
  });
  afterAll(() => decisions.close());

  test('does not end an onramp whose rate is said to have expired: its payment is followed', async () => {
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
    expect((await parked(handle)).parked?.reason).toBe('conflict');
    await handle.terminate();
  });

  test('does not end a bridge transfer as failed: a person is asked', async () => {
    const input = transferInput(newReference('transfer'), { timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await inInbox(decisions, handle.workflowId, 'COMPLETED');
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
    expect((await parked(handle)).parked?.reason).toBe('conflict');
    await handle.terminate();
  });

  test('ends one that nothing contradicts', async () => {
    const input = transferInput(newReference('alone'), { timeScale: TIME_SCALE, deadlineSeconds: LONG_SECONDS });
    const handle = await decisions.bench.start(input);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await handle.signal('events', [trusted('FAILED', { facts: { failureStage: 'deposit' } })]);
    expect(await ended(handle)).toMatchObject({ state: 'failed', outcome: { reason: 'failed_at_service' } });
  });
});

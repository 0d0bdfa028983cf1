import { describe, expect, jest, test } from '@jest/globals';
import { UnknownOutcomeError } from '../../src/service-client/index.js';
import { gate, inInbox, openDecisionBench, parked, TIME_SCALE } from './bench.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import cryptoSend from '../kinds/crypto-send.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';

describe('a crypto send that a setting would send again', () => {
  test('parks past its deadline: only a person gives a flow more time', async () => {
    const answered = gate();
    let attempts = 0;
    const decisions = await openDecisionBench(
      () => ({
        sendCrypto: async () => {
          attempts += 1;
          await answered.opened;
          throw new UnknownOutcomeError('sendCrypto', 'timeout');
        },
      }),
      { repeatSettingOf: () => 'same-result' },
    );
    const reference = newReference('overdue');
    const input = { ...cryptoSend.input(reference), deadlineSeconds: 10 };
    const handle = await decisions.bench.startFlow('crypto-send', reference, input);
    await until('the POST to be under way', () => attempts === 1);
    await decisions.bench.pass(11_000);
    answered.open();
    await parked(handle);
    await decisions.bench.pass(300_000);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'not_found_at_service');
    expect(attempts).toBe(1);
    await handle.terminate();
    await decisions.close();
  });
});

describe('a withdrawal of unknown outcome that a setting sends again', () => {
  test('is not if an untrusted event in the inbox may belong to the first send', async () => {
    let attempts = 0;
    const decisions = await openDecisionBench(
      () => ({
        createBankWithdrawal: async () => {
          attempts += 1;
          throw new UnknownOutcomeError('createBankWithdrawal', 'timeout');
        },
      }),
      { repeatSettingOf: () => 'rejected' },
    );
    const reference = newReference('claimed');
    await inInbox(decisions, `bank-withdrawal/${reference}`, 'SUCCESSFUL', { proof: null });
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, {
      ...bankWithdrawal.input(reference),
      timeScale: TIME_SCALE,
    });
    expect((await parked(handle)).parked?.reason).toBe('unknown_outcome');
    expect(attempts).toBe(1);
    await handle.terminate();
    await decisions.close();
  });

  test('parks, and is not ordered once more at once, if its claim does not take the order', async () => {
    let isLost = false;
    const decisions = await openDecisionBench(
      () => ({
        createBankWithdrawal: async () => {
          isLost = true;
          throw new UnknownOutcomeError('createBankWithdrawal', 'timeout');
        },
      }),
      { repeatSettingOf: () => 'rejected' },
    );
    const { claims } = decisions.store;
    const ordered = jest.spyOn(claims, 'orderSendAgain');
    const reference = newReference('ended-before');
    const handle = await decisions.bench.startFlow('bank-withdrawal', reference, {
      ...bankWithdrawal.input(reference),
      timeScale: TIME_SCALE,
    });
    await until('the POST', () => isLost);
    // As after a reset of a flow that a person had ended.
    const [claim] = await claims.ofFlow(handle.workflowId);
    await claims.recordDecision(claim!, 'mark-failed', { actor: 'ada', note: 'looked into it' });
    expect((await parked(handle)).parked?.reason).toBe('unknown_outcome');
    expect(ordered).toHaveBeenCalledTimes(1);
    await handle.terminate();
    await decisions.close();
  });
});

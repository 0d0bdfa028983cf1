import { describe, expect, jest, test } from '@jest/globals';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { ACCOUNT } from '../harness/fixed.js';
import { trusted } from '../harness/inputs.js';
import { untilFlow } from '../harness/reports.js';
import { ended, noted, parked, resolve } from './bench.js';
import { failed, useRefundBench } from './refund-bench.js';

describe('a transfer that the service or the provider refunded', () => {
  const refunds = useRefundBench();
  const { tracked, claimOf } = refunds;

  test('has two refunds if an earlier run of the flow may have sent one', async () => {
    const { refund, handle } = await tracked('reset');
    const key = { account: ACCOUNT, operation: 'sendCrypto', reference: refund };
    await refunds.decisions.store.claims.reserve(key, { owner: 'gone', flowId: handle.workflowId, fingerprint: 'f' });
    await refunds.decisions.store.claims.markSending(key, 'gone');
    await handle.signal('events', [failed(), trusted('REFUNDED')]);
    const why = 'a refund by us may have been sent, and the service says that it was refunded: look at both';
    expect((await parked(handle)).parked).toMatchObject({ reason: 'conflict', evidence: { ownRefund: refund, why } });
    await handle.terminate();
  });

  test('asks a person if the store cannot say whether we sent a refund, too, and ends by itself once it can', async () => {
    const { refund, handle } = await tracked('store-away');
    const unavailable = new StoreUnavailableError('AWAY', 'database');
    const away = jest.spyOn(refunds.decisions.store.claims, 'voidAll').mockRejectedValue(unavailable);
    await handle.signal('events', [failed(), trusted('REFUNDED')]);
    await refunds.decisions.bench.pass(20_000);
    expect((await parked(handle)).parked).toMatchObject({
      reason: 'conflict',
      evidence: { code: 'own_refund_unknown' },
    });
    away.mockRestore();
    expect(await ended(handle)).toMatchObject({ state: 'refunded' });
    expect(await claimOf(refund)).toMatchObject({ phase: 'void' });
  });

  test.each([
    ['a COMPLETED', trusted('COMPLETED'), 'conflict'],
    ['a settlement of another amount', trusted('SETTLING', { facts: { settlementAmount: '9' } }), 'event_mismatch'],
  ])('is no end by itself if %s comes while the store cannot say that', async (_, event, reason) => {
    const { handle } = await tracked('store-away-and-contradicted');
    const unavailable = new StoreUnavailableError('AWAY', 'database');
    const away = jest.spyOn(refunds.decisions.store.claims, 'voidAll').mockRejectedValue(unavailable);
    await handle.signal('events', [failed(), trusted('REFUNDED')]);
    await refunds.decisions.bench.pass(20_000);
    await noted(handle, 'parked', 'conflict');
    await handle.signal('events', [event]);
    await untilFlow(
      handle,
      ({ view }) => view.parked?.reason === reason && view.timeline.filter(({ code }) => code === 'parked').length > 1,
    );
    away.mockRestore();
    expect((await parked(handle)).parked?.reason).toBe(reason);
    await handle.terminate();
  });

  test.each([
    ['dismissed', 'dismiss-event', 'refunded'],
    ['accepted, and says that it was completed,', 'accept-event', 'parked'],
  ])('is judged again once an event that differs was %s', async (_, action, state) => {
    const { refund, handle } = await tracked('store-away-and-other');
    const unavailable = new StoreUnavailableError('AWAY', 'database');
    const away = jest.spyOn(refunds.decisions.store.claims, 'voidAll').mockRejectedValue(unavailable);
    await handle.signal('events', [failed(), trusted('REFUNDED')]);
    await refunds.decisions.bench.pass(20_000);
    await noted(handle, 'parked', 'conflict');
    await handle.signal('events', [trusted('COMPLETED', { facts: { settlementAmount: '9' } })]);
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'event_mismatch');
    away.mockRestore();
    await resolve(handle, action);
    const { view } = await untilFlow(handle, (report) => report.view.state === state);
    if (state === 'refunded') expect(await claimOf(refund)).toMatchObject({ phase: 'void' });
    else
      expect(view.parked).toMatchObject({
        reason: 'conflict',
        evidence: { proven: ['COMPLETED', 'FAILED', 'REFUNDED'], code: 'proofs_exclude_one_another' },
      });
    await handle.terminate().catch(() => undefined);
  });
});

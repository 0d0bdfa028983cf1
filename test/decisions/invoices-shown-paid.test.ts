import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import { RateLimitedError } from '../../src/service-client/index.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { ended, openDecisionBench, TIME_SCALE } from './bench.js';

const HOUR_MS = 3_600_000;
/** Our payment is not taken, and tried again in an hour. */
let isBusy = true;
let tries = 0;
/** How often the lookup is still to show what the customer has paid on the invoice's page, before an older copy answers. */
let timesShown = 0;

describe('an invoice that the lookup has once shown as paid, while our payment waits to be sent,', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      async payInvoice(body, options) {
        tries += 1;
        if (isBusy) throw new RateLimitedError('payInvoice', HOUR_MS);
        return service.payInvoice(body, options);
      },
      async getInvoicePayment(referenceId) {
        const status = timesShown > 0 ? 'SUCCESSFUL' : 'PENDING';
        timesShown -= 1;
        return { referenceId, status, amount: '1000.5', currency: 'KES' };
      },
    }));
  });
  afterAll(() => decisions.close());

  const waiting = async (word: string) => {
    [isBusy, tries, timesShown] = [true, 0, 0];
    const reference = newReference(word);
    const money = { currency: 'KES', amount: '1000.50', bank, payment: { mobileMoney } };
    const input = { referenceId: reference, ...money, timeScale: TIME_SCALE, deadlineSeconds: 1_800_000 };
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    await until('the payment to be tried', async () => tries === 1);
    timesShown = 1;
    return { reference, handle };
  };
  const expectFollowed = async ({ reference, handle }: { reference: string; handle: WorkflowHandle }) => {
    isBusy = false;
    await decisions.bench.pass(HOUR_MS);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    expect(await decisions.executions('payInvoice', reference)).toBe(0);
  };

  test('is followed, though the next lookup shows an older copy: it is not called unpaid', async () => {
    await expectFollowed(await waiting('shown-once'));
  });

  test('is followed after the cancel that was refused for it', async () => {
    const flow = await waiting('shown-to-cancel');
    await expect(flow.handle.executeUpdate('cancel', { args: [{ actor: 'ann' }] })).rejects.toThrow();
    await expectFollowed(flow);
  });
});

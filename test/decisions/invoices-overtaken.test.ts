import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DuplicateReferenceError, RejectedError } from '../../src/service-client/index.js';
import { ACCOUNT } from '../harness/fixed.js';
import { trusted } from '../harness/inputs.js';
import { bank, mobileMoney } from '../flows/invoice-payment-setup.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { until } from '../harness/until.js';
import { ended, entriesOf, inInbox, openDecisionBench, TIME_SCALE } from './bench.js';

/** The word of the payment that the service shows; undefined: the sandbox's. */
let shown: string | undefined;
let failuresShown = 0;
/** What the service answers to our payment, after the invoice's page was faster. */
let answerOurs: (reference: string) => Promise<Error>;

const alreadyPaid = () => {
  const refusal = { httpStatus: 400, message: 'This invoice is settled', fields: [], isRateExpired: false };
  return new RejectedError('payInvoice', { ...refusal, isAboutReference: false });
};

describe('an invoice that its page pays just before we do, so that ours is refused', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      async payInvoice({ referenceId }) {
        shown = 'PROCESSING';
        throw await answerOurs(referenceId);
      },
      async getInvoicePayment(referenceId) {
        if (shown === undefined) return service.getInvoicePayment(referenceId);
        if (shown === 'FAILED') failuresShown += 1;
        return { referenceId, status: shown, amount: '1000.5', currency: 'KES' };
      },
    }));
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  /** By an event or by the lookup. */
  const known = (handle: WorkflowHandle, status: string) =>
    untilFlow(handle, ({ view }) =>
      (['event-applied', 'status-looked-up'] as const).some((code) => entriesOf(view, code, status).length > 0),
    );
  const reportedMeanwhile = async (reference: string) => {
    await inInbox(decisions, `invoice-payment/${reference}`, 'PROCESSING');
    return alreadyPaid();
  };

  test.each([
    ['for its content', async () => alreadyPaid()],
    ['as a duplicate', async () => new DuplicateReferenceError('payInvoice', 409)],
    ['while a trusted event reports the other one', reportedMeanwhile],
  ])('is followed, if ours is refused %s: an attempt of the page that fails ends nothing', async (_, refusal) => {
    shown = undefined;
    answerOurs = refusal;
    const reference = newReference('page-first');
    const money = { currency: 'KES', amount: '1000.50', bank, payment: { mobileMoney } };
    const input = { referenceId: reference, ...money, timeScale: TIME_SCALE, deadlineSeconds: 360_000 };
    const handle = await decisions.bench.startFlow('invoice-payment', reference, input);
    await known(handle, 'PROCESSING');
    shown = 'FAILED';
    await handle.signal('events', [trusted('FAILED', { source: 'webhook' })]);
    await known(handle, 'FAILED');
    const seen = failuresShown;
    await until('its failure to be looked up, more than once', async () => failuresShown > seen + 2);
    shown = 'SUCCESSFUL';
    await handle.signal('events', [trusted('SUCCESSFUL', { source: 'webhook' })]);
    expect(await ended(handle)).toMatchObject({ state: 'completed' });
    // It may be ours: something on the way may have sent it twice.
    const key = { account: ACCOUNT, operation: 'payInvoice', reference };
    expect(await decisions.store.claims.get(key)).toMatchObject({ phase: 'answered' });
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { RejectedError, ServiceUnavailableError, UnknownOutcomeError } from '../../src/service-client/index.js';
import type { MoneyOperationName } from '../../src/contract/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import { ACCOUNT } from '../harness/fixed.js';
import { transferInput } from '../harness/inputs.js';
import { flowInput } from '../harness/kind.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { bolt11 } from '../flows/bolt11.js';
import { startCardGateway, type CardGateway } from '../flows/cards/card-gateway.js';
import { noted, openDecisionBench, parked, resolve, TIME_SCALE } from './bench.js';

const LOOKUPS = [
  'getCryptoSend',
  'getOfframp',
  'getOnChainDeposit',
  'getMobileMoneyDeposit',
  'getInvoice',
  'getInvoicePayment',
] as const;

/** Of kinds with and without a lookup. */
const POSTS = KINDS.flatMap((kind) =>
  (Object.keys(kind.posts) as MoneyOperationName[]).map((operation) => ({ kind, operation })),
);

const refusal = (httpStatus: number) => () =>
  new RejectedError('getCryptoSend', { httpStatus, fields: [], isRateExpired: false, isAboutReference: false });

const ANSWERS: readonly (readonly [string, () => Error])[] = [
  ['400', refusal(400)],
  ['403', refusal(403)],
  ['a 404 that no service wrote', refusal(404)],
  ['503', () => new ServiceUnavailableError('getCryptoSend', 'http-status', 503)],
];

describe('fault 49: every POST whose answer is lost, and whose lookup does not answer', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let lost: MoneyOperationName | undefined;
  let answer: (() => Error) | undefined;
  let cards: CardGateway;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => {
      const posts = POSTS.map(({ operation }) => {
        const send = service[operation] as (body: unknown) => Promise<unknown>;
        const sendAndLose = async (body: unknown) => {
          const came = await send(body);
          if (operation === lost) throw new UnknownOutcomeError(operation, 'timeout');
          return came;
        };
        return [operation, sendAndLose];
      });
      const lookups = LOOKUPS.map((operation) => {
        const read = service[operation] as (reference: string) => Promise<unknown>;
        return [operation, (reference: string) => (answer === undefined ? read(reference) : Promise.reject(answer()))];
      });
      return Object.fromEntries([...posts, ...lookups]) as Partial<typeof service>;
    });
    cards = await startCardGateway(decisions.bench, { info() {}, warn() {}, error() {}, debug() {} });
  });
  afterAll(async () => {
    await cards.close();
    await decisions.close();
  });

  const started = async ({ kind, ...rest }: NamedKind, seconds: number) => {
    const reference = newReference(kind);
    const card = 'card' in rest.input(reference) ? cards.keep() : {};
    const more = { ...card, timeScale: TIME_SCALE, deadlineSeconds: seconds };
    const handle = await decisions.bench.startFlow(kind, reference, {
      ...flowInput(rest, reference),
      ...more,
    });
    return { reference, handle };
  };

  test.each(POSTS)(
    `$operation parks at its window for each of ${ANSWERS.length} answers, with its deadline far away, ends by nothing, and is sent once`,
    async ({ kind, operation }) => {
      for (const [, error] of ANSWERS) {
        lost = operation;
        // The invoice is generated and read first, and looked up right before it is paid.
        answer = operation === 'payInvoice' ? undefined : error;
        const { reference, handle } = await started(kind, 360_000);
        await noted(handle, 'outcome-unknown');
        answer = error;
        const { state, parked: shown } = await parked(handle);
        expect(state).toBe('parked');
        expect(['could_not_ask', 'unknown_outcome']).toContain(shown?.reason);
        // A card is gone after its first send.
        const possible = kind.kind === 'card-deposit' ? [] : ['send-again'];
        expect(shown?.actions).toEqual(expect.arrayContaining([...possible, 'close-not-executed']));
        expect(await decisions.executions(operation, reference)).toBe(1);
        await handle.terminate();
      }
      answer = undefined;
      lost = undefined;
    },
  );

  test.each(KINDS.filter(({ posts }) => Object.keys(posts).length > 0))(
    'fault 60: a $kind takes every update after a refused Cancel of the Temporal UI',
    async (kind) => {
      const { handle } = await started(kind, 3_600);
      // An invoice that is not paid yet can be cancelled.
      await noted(handle, 'accepted', '', kind.kind === 'invoice-payment' ? 2 : 1);
      await handle.cancel();
      await noted(handle, 'cancel-refused');
      await expect(handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] })).rejects.toMatchObject({
        cause: { type: 'money_may_have_moved' },
      });
      expect(await handle.executeUpdate('answer')).toMatchObject({ kind: 'accepted' });
      await decisions.bench.pass(3_600_000 * TIME_SCALE);
      expect((await parked(handle)).parked?.reason).toBe(kind.overdue);
      expect(await resolve(handle, 'keep-waiting')).toEqual({ accepted: true });
      await untilFlow(handle, ({ view }) => view.state === 'running');
      await handle.terminate();
    },
  );

  test('fault 60: approve-quote, pay and a refund invoice are taken after it, too', async () => {
    const transfer = transferInput(newReference('approved'), { approval: 'required', timeScale: TIME_SCALE });
    const approved = await decisions.bench.start({ ...transfer, deadlineSeconds: 360_000 });
    await untilFlow(approved, ({ view }) => view.stage === 'awaiting-approval');
    const fingerprint = String((await approved.describe()).memo?.['fingerprint']);
    // An earlier run may have sent: so it is not cancelled.
    const reference = String(transfer['provider_reference_id']);
    const key = { account: ACCOUNT, operation: 'createBridgeDeposit', reference };
    await decisions.store.claims.reserve(key, { owner: 'gone', flowId: approved.workflowId, fingerprint });
    await decisions.store.claims.markSending(key, 'gone');
    await approved.cancel();
    await noted(approved, 'cancel-refused');
    expect(await approved.executeUpdate('approveQuote', { args: [{ actor: 'ada' }] })).toEqual({ approved: true });
    await noted(approved, 'quote-approved');
    await approved.terminate();

    const invoice = KINDS.find(({ kind }) => kind === 'invoice-payment');
    if (invoice === undefined) throw new TypeError('there is no invoice-payment');
    const unpaid = newReference('unpaid');
    const { payment, ...waits } = flowInput(invoice, unpaid);
    const generated = await decisions.bench.startFlow('invoice-payment', unpaid, {
      ...waits,
      timeScale: TIME_SCALE,
      deadlineSeconds: 360_000,
    });
    await untilFlow(generated, ({ view }) => view.stage === 'awaiting-payment');
    answer = refusal(403);
    await generated.cancel();
    await noted(generated, 'cancel-refused');
    answer = undefined;
    const order = { actor: 'ada', ...(payment as Record<string, unknown>) };
    expect(await generated.executeUpdate('pay', { args: [order] })).toMatchObject({ kind: 'accepted' });
    expect(await decisions.executions('payInvoice', unpaid)).toBe(1);
    await generated.terminate();

    const lightning = newReference('lightning');
    const refunded = await decisions.bench.startFlow('offramp', lightning, {
      referenceId: lightning,
      currency: 'KES',
      chain: 'LIGHTNING',
      token: 'SAT',
      cryptoAmount: '2100',
      timeScale: TIME_SCALE,
      deadlineSeconds: 360_000,
    });
    await refunded.executeUpdate('answer');
    await refunded.cancel();
    await noted(refunded, 'cancel-refused');
    for (const status of ['CRYPTO_RECEIVED', 'FAILED', 'REFUND_PENDING']) {
      await decisions.move(lightning, status, 'createOfframp');
    }
    await noted(refunded, 'status-looked-up', 'REFUND_PENDING');
    const given = { actor: 'ada', invoice: bolt11({ amountMsat: 2_100_000 }) };
    expect(await refunded.executeUpdate('provideRefundInvoice', { args: [given] })).toMatchObject({ accepted: true });
    expect((await refunded.query<FlowReport>('flow')).view.outcome).toBeNull();
    await refunded.terminate();
  });
});

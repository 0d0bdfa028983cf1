import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createWebhookMatcher } from '../../src/gateway/dispatch/webhook-matcher.js';
import { until } from '../harness/until.js';
import { statesOf } from '../store/states-of.js';
import { anEvent, makeTemporaryStore } from '../store/temporary-store.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { KINDS } from '../harness/kinds.js';
import { newReference } from '../harness/references.js';
import { type Stack, withStack } from '../end-to-end/stack.js';

const DEPOSIT = 'transaction.deposit.status.updated';
/** Signed: otherwise a tampered copy would be as trusted as the capability of its URL. */
const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const WITHDRAWAL = 'transaction.withdrawal.status.updated';
/** Kinds whose record `kyc.status.changed` reports. */
const CHECKS = KINDS.filter(({ record }) => record === 'getKycStatus');

describe('an account webhook', () => {
  let tested: GatewayUnderTest;
  let endpoint: string;
  /** Nothing here needs Temporal: the claims show whose reference it is. */
  beforeAll(async () => {
    tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
    endpoint = new URL(tested.gateway.inbound.webhook).pathname;
  });
  afterAll(() => tested.close());

  /** What a flow of this kind leaves in the store once it sent its POST. */
  const sent = async (kind: string, operation: string, reference: string, claimed = reference) => {
    const key = { account: 'default', operation, reference: claimed };
    await tested.store.claims.reserve(key, { owner: 'o', flowId: `${kind}/${reference}`, fingerprint: 'f' });
    await tested.store.claims.markSending(key, 'o');
  };
  const post = (event: string | null, data: Record<string, unknown>) =>
    tested.post(endpoint, event === null ? data : { event, data });
  const matched = () =>
    until(
      'every webhook to be matched',
      async () => !(await tested.store.inbox.toMatch({ proven: true, most: 1 })).length,
    );
  const rowsOf = async (flowId: string) => {
    await matched();
    return tested.store.inbox.list({ flowId });
  };
  const unmatched = async (reference: string) => {
    await matched();
    return (await tested.store.inbox.list({ state: 'unmatched', limit: 500 })).filter(
      (row) => row.reference === reference,
    );
  };

  it.each([
    [WITHDRAWAL, 'bank-withdrawal', 'createBankWithdrawal'],
    [DEPOSIT, 'bank-checkout', 'createBankCheckout'],
    ['payment.confirmed', 'bank-checkout', 'createBankCheckout'],
  ])('%s finds the %s of its reference, in either spelling', async (event, kind, operation) => {
    const reference = newReference();
    await sent(kind, operation, reference);
    expect((await post(event, { referenceId: reference, status: 'PENDING' })).status).toBe(200);
    await post(event, { reference_id: reference, status: 'SUCCESSFUL', amount: 5 });
    const rows = await rowsOf(`${kind}/${reference}`);
    expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['PENDING', 'SUCCESSFUL']));
    expect(rows.every((row) => row.source === 'webhook' && row.proof === 'capability')).toBe(true);
  });

  it.each(CHECKS)('kyc.status.changed finds the $kind of its record, which claims nothing', async ({ kind }) => {
    const kycId = newReference();
    await post('kyc.status.changed', { kycId, status: 'APPROVED', kycStatus: true });
    expect(await rowsOf(`${kind}/${kycId}`)).toMatchObject([{ status: 'APPROVED', state: 'waiting' }]);
  });

  it('of the bridge is recognised by its own spelling of the reference, as before', async () => {
    const reference = newReference();
    await post('transaction.status.updated', { provider_reference_id: reference, status: 'SETTLING' });
    expect(await rowsOf(`bridge-transfer/${reference}`)).toMatchObject([{ status: 'SETTLING' }]);
  });

  it('goes to the kind that its name gives, if several kinds have sent the same reference', async () => {
    const reference = newReference();
    await sent('bank-checkout', 'createBankCheckout', reference);
    await sent('bank-withdrawal', 'createBankWithdrawal', reference);
    await post(WITHDRAWAL, { referenceId: reference, status: 'SUCCESSFUL' });
    await post(DEPOSIT, { referenceId: reference, status: 'FAILED' });
    expect(await rowsOf(`bank-withdrawal/${reference}`)).toMatchObject([{ status: 'SUCCESSFUL' }]);
    expect(await rowsOf(`bank-checkout/${reference}`)).toMatchObject([{ status: 'FAILED' }]);
  });

  it('without a name that gives the kind goes to the one flow that has sent the reference', async () => {
    const reference = newReference();
    await sent('bank-checkout', 'createBankCheckout', reference);
    await post('transaction.status.updated', { referenceId: reference, status: 'PENDING' });
    await post(null, { reference_id: reference, status: 'SUCCESSFUL' });
    await post('a.name.of.tomorrow', { reference_id: reference, status: 'REVERSED' });
    expect(await rowsOf(`bank-checkout/${reference}`)).toHaveLength(3);
  });

  it('is kept as unmatched if its flow is not known: no such flow, or two of them', async () => {
    const [nobodys, two] = [newReference(), newReference()];
    await sent('bank-checkout', 'createBankCheckout', two);
    await sent('bank-withdrawal', 'createBankWithdrawal', two);
    for (const reference of [nobodys, two]) {
      expect((await post(null, { referenceId: reference, status: 'SUCCESSFUL' })).status).toBe(200);
      expect(await unmatched(reference)).toMatchObject([{ flowId: null, state: 'unmatched', status: 'SUCCESSFUL' }]);
    }
  });

  it('waits for its flow if only one kind is possible, and reaches it however early', async () => {
    const reference = newReference();
    await post(WITHDRAWAL, { referenceId: reference, status: 'PENDING' });
    expect(await rowsOf(`bank-withdrawal/${reference}`)).toMatchObject([{ state: 'waiting' }]);
  });

  it('of a refund that a flow sent is not taken for the flow itself', async () => {
    const reference = newReference();
    await sent('bridge-transfer', 'sendCrypto', reference, `${reference}.refund`);
    await post('transaction.onramp.status.updated', { referenceId: `${reference}.refund`, status: 'COMPLETED' });
    expect(await rowsOf(`bridge-transfer/${reference}`)).toEqual([]);
    expect(await unmatched(`${reference}.refund`)).toHaveLength(1);
  });

  it('finds no flow whose claim was never sent, or was given up: the service could not know it', async () => {
    const reference = newReference();
    const attempt = { owner: 'o', flowId: `bank-checkout/${reference}`, fingerprint: 'f' };
    const key = { account: 'default', operation: 'createBankCheckout', reference };
    await tested.store.claims.reserve(key, attempt);
    await post(null, { referenceId: reference, status: 'SUCCESSFUL' });
    expect(await rowsOf(attempt.flowId)).toEqual([]);
    expect(await unmatched(reference)).toHaveLength(1);
  });

  it.each(['closed as not executed', 'refused', 'to be sent again'])(
    'finds the flow whose POST was sent and is %s, unless another one under way is meant',
    async (how) => {
      const [reference, two] = [newReference(), newReference()];
      for (const sentAs of [reference, two]) {
        const key = { account: 'default', operation: 'sendCrypto', reference: sentAs };
        await sent('crypto-send', 'sendCrypto', sentAs);
        const order = { actor: 'jane', note: 'n' };
        if (how === 'refused') await tested.store.claims.recordRejection(key, 'o', { httpStatus: 400, message: 'no' });
        else if (how === 'to be sent again') await tested.store.claims.orderSendAgain(key, 'p', order);
        else await tested.store.claims.closeNotExecuted(key, order);
      }
      const succeeded = (referenceId: string) =>
        post('transaction.status.updated', { referenceId, status: 'SUCCESSFUL' });
      await succeeded(reference);
      expect(await rowsOf(`crypto-send/${reference}`)).toMatchObject([{ status: 'SUCCESSFUL' }]);
      if (how === 'to be sent again') return;
      await sent('bank-withdrawal', 'createBankWithdrawal', two);
      await succeeded(two);
      expect(await rowsOf(`bank-withdrawal/${two}`)).toMatchObject([{ status: 'SUCCESSFUL' }]);
    },
  );

  it('whatever it holds is kept and answered alike', async () => {
    const before = (await statesOf(tested.store.inbox)).unmatched;
    const strange = [
      [],
      'text',
      7,
      { event: 7 },
      { event: WITHDRAWAL },
      { event: '__proto__', data: { referenceId: '..' } },
    ];
    for (const body of strange) expect((await tested.post(endpoint, JSON.stringify(body))).status).toBe(200);
    expect((await statesOf(tested.store.inbox)).unmatched - before).toBe(strange.length);
  });
});

describe('account webhooks without a proof', () => {
  it('are matched as well, and never delay those with one; nor does one whose claim cannot be opened', async () => {
    const temporary = await makeTemporaryStore('libsql');
    const { inbox, matters } = await temporary.open();
    const came = async (proof: 'signature' | null) => {
      const body = { proof };
      const { id } = await inbox.receive(anEvent({ source: 'webhook', flowId: null, toMatch: true, proof, body }));
      return id;
    };
    let release = (): void => undefined;
    const stuck = new Promise<void>((resolve) => (release = resolve));
    const matcher = createWebhookMatcher({
      inbox,
      matters,
      matchOf: async (body) => {
        if ((body as { proof: unknown }).proof === null) await stuck;
        // As of a claim that cannot be opened.
        if ((body as { isBroken?: boolean }).isBroken === true) throw new Error('a seal is broken');
        return { flowId: 'bank-checkout/r', reference: 'r', status: null };
      },
      dispatcher: { nudge: () => undefined },
      unreadable: { examine: () => [] },
      drain: { finish: async (inFlight) => void (await inFlight) },
      logger: pino({ enabled: false }),
      everyMs: 3_600_000,
    });
    const matched = (id: string) => until('the match', async () => (await inbox.get(id))?.flowId === 'bank-checkout/r');
    try {
      const unproven: string[] = [];
      for (let n = 0; n < 25; n += 1) unproven.push(await came(null));
      const early = await came('signature');
      const isBroken = { proof: 'signature', isBroken: true };
      const broken = await inbox.receive(
        anEvent({ source: 'webhook', flowId: null, toMatch: true, proof: 'signature', body: isBroken }),
      );
      const behind = await came('signature');
      matcher.start();
      await matched(early);
      await matched(behind);
      expect(await inbox.get(broken.id)).toMatchObject({ flowId: null, state: 'waiting' });
      const late = await came('signature');
      matcher.nudge(true);
      await matched(late);
      expect((await inbox.toMatch({ proven: false, most: 100 })).map(({ id }) => id)).toEqual(unproven);
      release();
      for (const id of unproven) await matched(id);
    } finally {
      release();
      await matcher.stop();
      await temporary.remove();
    }
  });
});

describe('flows that the service reports about', () => {
  let stack: Stack;
  withStack(
    {
      sandbox: { stepMs: 100, callbackSecret: SECRET, webhookSecret: SECRET },
      env: { WEBHOOK_SECRETS: SECRET },
    },
    (opened) => (stack = opened),
  );
  beforeEach(() => {
    const webhookUrl = stack.url + new URL(stack.gateway.inbound.webhook).pathname;
    return stack.control('POST', '/settings', { webhookUrl });
  });

  const bankDetails = { bankCode: '0250', accountNumber: '62000000001' };
  const withdrawal = (referenceId: string) => ({ referenceId, bankDetails, currency: 'ZAR', amount: '250.5' });
  const checkout = (referenceId: string) => ({
    referenceId,
    fullName: 'Canary Customer',
    phoneNumber: '+27821234567',
    paymentMethod: 'CARD',
    currency: 'ZAR',
    amount: '250.50',
  });
  const run = async (kind: string, input: Record<string, unknown>, reference: string, ending?: string) => {
    if (ending !== undefined) await stack.control('POST', '/scenarios', { reference, ending });
    expect((await stack.post(`/flows/${kind}`, input)).status).toBe(201);
    return (await stack.get(`/flows/${kind}/${reference}/wait?timeoutSeconds=300`)).body;
  };
  const settled = (kind: string, reference: string) =>
    until('every row to be settled', async () => {
      const rows = await stack.store.inbox.list({ flowId: `${kind}/${reference}` });
      return rows.length > 0 && rows.every(({ state }) => !['waiting', 'delivered'].includes(state)) && rows;
    });

  it.each(['callback and webhook', 'callback alone'])('a withdrawal and a checkout complete by %s', async (by) => {
    if (by === 'callback alone') await stack.control('POST', '/settings', { webhookUrl: null });
    const [out, paid] = [newReference(), newReference()];
    const [ofWithdrawal, ofCheckout] = await Promise.all([
      run('bank-withdrawal', withdrawal(out), out),
      run('bank-checkout', checkout(paid), paid),
    ]);
    expect([ofWithdrawal['state'], ofCheckout['state']]).toEqual(['completed', 'completed']);
    const wanted = by === 'callback alone' ? ['callback'] : ['callback', 'webhook'];
    // A webhook is matched after its answer, and perhaps after the flow's end.
    const sources = await until('every source to be settled', async () => {
      const found = new Set((await settled('bank-withdrawal', out)).map(({ source }) => source));
      return found.size >= wanted.length && found;
    });
    expect(sources).toEqual(new Set(wanted));
  });

  it.each(CHECKS)(
    'a $kind completes by its webhook within the quarter of an hour between two lookups',
    async ({ kind, input }) => {
      const kycId = newReference();
      expect((await run(kind, input(kycId), kycId))['state']).toBe('completed');
      expect(await settled(kind, kycId)).toMatchObject([{ source: 'webhook', state: 'applied' }]);
    },
  );

  it('the early, the repeated and the tampered-with change nothing, and every event is accounted for', async () => {
    await stack.control('POST', '/adversary', { duplicate: 1, early: 1, tampered: 1 });
    await stack.control('POST', '/settings', { vocabulary: 'live', numbersAsStrings: true });
    const references = Array.from({ length: 10 }, newReference);
    const ends = await Promise.all(references.map((each) => run('bank-withdrawal', withdrawal(each), each)));
    expect(ends.map(({ state }) => state)).toEqual(references.map(() => 'completed'));
    for (const reference of references) {
      const rows = await settled('bank-withdrawal', reference);
      expect(rows.filter(({ state }) => !['applied', 'duplicate', 'late'].includes(state))).toEqual([]);
    }
    await stack.control('POST', '/adversary', {});
    await stack.control('POST', '/settings', { vocabulary: 'interface', numbersAsStrings: false });
  });

  it('a reversal after the end is listed as late, and raises an alarm', async () => {
    await stack.control('POST', '/settings', { vocabulary: 'live' });
    const reference = newReference();
    await stack.control('POST', '/scenarios', { reference, ending: 'never' });
    const moved = (status: string) =>
      until(`${status} to be possible`, () =>
        stack.control('POST', `/transactions/${reference}/move`, { status }).then(
          () => true,
          () => false,
        ),
      );
    const ended = run('bank-withdrawal', withdrawal(reference), reference);
    await moved('SUCCESSFUL');
    expect((await ended)['state']).toBe('completed');
    await moved('REVERSED');
    await until('the alarm', () =>
      stack.log.some((line) => line['alarm'] !== undefined && line['flowId'] === `bank-withdrawal/${reference}`),
    );
    await stack.control('POST', '/settings', { vocabulary: 'interface' });
  });

  it('what expires and is paid after all parks as a conflict, and was never called failed', async () => {
    await stack.control('POST', '/settings', { vocabulary: 'live' });
    const reference = newReference();
    const view = await run('bank-checkout', checkout(reference), reference, 'expired-then-paid');
    expect(view).toMatchObject({ state: 'parked', parked: { reason: 'conflict' } });
    await stack.control('POST', '/settings', { vocabulary: 'interface' });
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { NEVER_RESERVED } from '../../src/protocol/fingerprint.js';
import { RejectedError, type ServiceClient } from '../../src/service-client/index.js';
import { createCardVault } from '../../src/gateway/cards/card-intake.js';
import { ACCOUNT } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { noted, untilFlow } from '../harness/reports.js';
import type { Stack } from '../harness/stack.js';
import {
  cardDepositInput,
  ended,
  openCardBench,
  order,
  parked,
  say,
  tracked,
  type CardBench,
} from './cards/card-bench.js';
import type { CardGateway } from './cards/card-gateway.js';
import { CANARY_CARD } from '../harness/parties.js';
import { canariesIn, decryptedHistory, filesOf } from './cards/find-canaries.js';

/** How long a card waits for its gateway at most. */
const CARD_WORKER_START_MS = 60_000;
/** Between its last lookups an activity waits for real. */
const SCALED = { timeScale: 0.02 };

/** What no other kind does: its card. The rest is in by-events.test.ts. */
describe('a card deposit', () => {
  let cards: CardBench;
  let bench: Stack;
  let gateway: CardGateway;
  beforeAll(async () => {
    cards = await openCardBench();
    ({ bench, gateway } = cards);
  });
  afterAll(() => cards.close());
  beforeEach(async () => Promise.all([bench.control('DELETE', '/faults'), bench.terminateAll()]));
  const deposit: CardBench['deposit'] = (...more) => cards.deposit(...more);
  const fault = (kind: string, more: Record<string, unknown> = {}) =>
    bench.control('POST', '/faults', { operation: 'createCardDeposit', kind, first: 1, ...more });
  const executions = (reference: string) => bench.executions('createCardDeposit', reference);
  const claimOf = (reference: string) =>
    bench.store.claims.get({ account: ACCOUNT, operation: 'createCardDeposit', reference });

  describe('with a card that its gateway keeps', () => {
    test('hands out the redirect URL, and completes by trusted events', async () => {
      const { reference, handle } = await deposit('happy');
      const answer = await handle.executeUpdate<{ answer: { redirect_url: string } }, []>('answer');
      expect(answer.answer.redirect_url).toMatch(/^http.*\/checkout\//);
      await say(handle, 'PENDING');
      await say(handle, 'SUCCESSFUL');
      expect((await ended(handle)).view.outcome).toMatchObject({ state: 'completed' });
      expect(await executions(reference)).toBe(1);
    });

    test.each(['rate-limited', 'unauthorized'])('after %s tries again while the card is kept', async (kind) => {
      await fault(kind, kind === 'rate-limited' ? { retryAfterSeconds: 1 } : {});
      const { reference, handle } = await deposit(kind);
      await noted(handle, 'not-sent');
      await bench.pass(5_000);
      await tracked(handle);
      await say(handle, 'SUCCESSFUL');
      expect((await ended(handle)).view.outcome).toMatchObject({ state: 'completed' });
      expect(await executions(reference)).toBe(1);
    });
  });

  describe('whose outcome is unknown', () => {
    test.each(['answer-lost', 'error-after', 'garbage', 'late-commit', 'duplicate-answer'])(
      'after %s parks without an order to send again, and a trusted event ends it',
      async (kind) => {
        await fault(kind, kind === 'late-commit' ? { delayMs: 20_000 } : {});
        const { reference, handle } = await deposit(kind, SCALED);
        await untilFlow(handle, ({ view }) => view.stage === 'outcome-unknown');
        await bench.pass(120_000);
        expect((await parked(handle)).view.parked).toMatchObject({
          reason: 'unknown_outcome',
          actions: ['close-not-executed', 'mark-completed', 'mark-refunded'],
        });
        await expect(order(handle, 'send-again')).rejects.toThrow();
        if (kind === 'late-commit') await bench.control('POST', '/clock', { advanceMs: 20_000 });
        await say(handle, 'SUCCESSFUL');
        expect((await ended(handle)).view.outcome).toMatchObject({ state: 'completed' });
        expect(await executions(reference)).toBe(1);
      },
    );
  });

  describe('whose card is gone', () => {
    const elsewhere = () => createCardVault({ nowMs: Date.now });
    const tokenOf = (vault = elsewhere()) => {
      const { cardToken, masked } = vault.keep(CANARY_CARD, 'shop');
      return { cardToken, masked };
    };

    test('with its gateway, before anything was sent: fails with card_details_expired, and its claim is void', async () => {
      const { reference, handle } = await deposit('gateway-gone', tokenOf());
      await bench.pass(CARD_WORKER_START_MS);
      expect((await ended(handle)).view.outcome).toMatchObject({ state: 'failed', reason: 'card_details_expired' });
      expect((await claimOf(reference))?.phase).toBe('void');
      expect(await executions(reference)).toBe(0);
    });

    test('with its gateway, while it was sending: unknown, and never called uncharged', async () => {
      const reference = newReference('gateway-lost');
      const flowId = `card-deposit/${reference}`;
      const key = { account: ACCOUNT, operation: 'createCardDeposit', reference };
      await bench.store.claims.reserve(key, { owner: 'lost', flowId, fingerprint: NEVER_RESERVED });
      await bench.store.claims.markSending(key, 'lost');
      const input = cardDepositInput(reference, { ...tokenOf(), ...SCALED });
      const handle = await bench.startFlow('card-deposit', reference, input);
      await bench.pass(2 * CARD_WORKER_START_MS);
      expect((await parked(handle)).view.parked?.reason).toBe('unknown_outcome');
      await handle.terminate();
    });

    test('because its minute was over: nothing was charged', async () => {
      const vaultToken = gateway.keep();
      gateway.vault.forget(vaultToken.cardToken);
      const { reference, handle } = await deposit('too-late', vaultToken);
      expect((await ended(handle)).view.outcome).toMatchObject({ state: 'failed', reason: 'card_details_expired' });
      expect(await executions(reference)).toBe(0);
    });

    test('because the service took nothing for a minute: nothing was charged', async () => {
      await fault('unauthorized', { first: 50 });
      const busy = await cards.anotherGateway();
      const { reference, handle } = await deposit('refusing', {}, busy);
      await noted(handle, 'not-sent');
      await bench.pass(60_000);
      expect((await ended(handle)).view.outcome).toMatchObject({ state: 'failed', reason: 'card_details_expired' });
      expect((await claimOf(reference))?.phase).toBe('void');
      expect(await executions(reference)).toBe(0);
      await busy.close();
    });

    test('because another flow used its token: charged once', async () => {
      const token = gateway.keep();
      const flows = [await deposit('token-a', token), await deposit('token-b', token)];
      const states = await Promise.all(
        flows.map(async ({ handle }) => {
          const report = await untilFlow(handle, ({ view }) => view.stage === 'tracking' || view.outcome !== null);
          return report.view.outcome?.reason ?? report.view.stage;
        }),
      );
      expect(states.toSorted()).toEqual(['card_details_expired', 'tracking']);
      const counts = await Promise.all(flows.map(({ reference }) => executions(reference)));
      expect(counts.reduce((sum, count) => sum + count)).toBe(1);
      await Promise.all(flows.map(({ handle }) => handle.terminate().catch(() => undefined)));
    });
  });

  test('of two gateways, each sends the cards that it keeps itself', async () => {
    const sentBy: string[] = [];
    const counting = (name: string) => {
      const { service } = bench.deps;
      const createCardDeposit: ServiceClient['createCardDeposit'] = (body, options) => {
        sentBy.push(`${name} ${body.referenceId ?? ''}`);
        return service.createCardDeposit(body, options);
      };
      return cards.anotherGateway({ service: { ...service, createCardDeposit } });
    };
    const [east, west] = [await counting('east'), await counting('west')];
    const a = await deposit('at-east', {}, east);
    const b = await deposit('at-west', {}, west);
    await Promise.all([tracked(a.handle), tracked(b.handle)]);
    expect(sentBy.toSorted()).toEqual([`east ${a.reference}`, `west ${b.reference}`]);
    for (const { handle } of [a, b]) {
      await say(handle, 'SUCCESSFUL');
      expect((await ended(handle)).view.outcome?.state).toBe('completed');
    }
    await Promise.all([east.close(), west.close()]);
  });

  test('can be cancelled before its card was sent, and not after', async () => {
    const vault = createCardVault({ nowMs: Date.now });
    const unsent = await deposit('cancelled', { cardToken: vault.keep(CANARY_CARD, 'shop').cardToken });
    await untilFlow(unsent.handle, ({ view }) => view.stage === 'submitting');
    await unsent.handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] });
    expect((await ended(unsent.handle)).view.outcome).toMatchObject({ reason: 'cancelled_before_sending' });
    expect((await claimOf(unsent.reference))?.phase).toBe('void');

    const sent = await deposit('not-cancelled');
    await tracked(sent.handle);
    await expect(sent.handle.executeUpdate('cancel', { args: [{ actor: 'ada' }] })).rejects.toThrow();
    await say(sent.handle, 'SUCCESSFUL');
    expect((await ended(sent.handle)).view.outcome?.state).toBe('completed');
  });

  test.each([
    ['currency', { currency: 'KES' }, 'currency'],
    ['amount, below zero', { amount: '-1' }, 'amount'],
    ['amount, with more decimals than the rand has', { amount: '10.005' }, 'amount'],
    ['phoneNumber', { phoneNumber: '0821234567' }, 'phoneNumber'],
    ['country', { country: 'XX' }, 'country'],
    ['cardToken', { cardToken: 'towline' }, 'cardToken'],
    ['cardToken, on a queue of others', { cardToken: `towline.${'a'.repeat(43)}` }, 'cardToken'],
    ['masked, where it shows too much', { masked: '3782822*6310005' }, 'masked'],
    ['card', { card: { number: 'x' } }, 'card'],
  ])('is refused before anything is sent for its %s, by name', async (_, more, member) => {
    const { reference, handle } = await deposit('wrong', more);
    const { view } = await ended(handle);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'invalid_input' });
    expect(view.outcome?.detail).toContain(`${member}: `);
    expect(await executions(reference)).toBe(0);
  });

  test('whose service repeats the card in its answers lets nothing of it through', async () => {
    const { number, cvv, holder } = CANARY_CARD;
    const echo = `Card ${number} (3782 822463 10005), 11/2047, 11/47, 1147, cvv ${cvv}, of ${holder}: seen`;
    const answering = async (createCardDeposit: ServiceClient['createCardDeposit']) => {
      const speaking = await cards.anotherGateway({ service: { ...bench.deps.service, createCardDeposit } });
      const flow = await deposit('echo', {}, speaking);
      await untilFlow(flow.handle, ({ view }) => view.stage !== 'submitting' && view.stage !== 'preparing');
      await speaking.close();
      return flow;
    };
    const accepted = await answering(({ referenceId = '' }) =>
      Promise.resolve({ reference_id: referenceId, message: echo, redirect_url: 'https://3ds.example/1', card: echo }),
    );
    const { answer } = await accepted.handle.executeUpdate<{ answer: Record<string, string> }, []>('answer');
    expect(Object.keys(answer)).toEqual(['message', 'reference_id', 'redirect_url']);
    const refused = await answering(() =>
      Promise.reject(
        new RejectedError('createCardDeposit', {
          httpStatus: 400,
          message: echo,
          fields: [],
          isRateExpired: false,
          isAboutReference: false,
        }),
      ),
    );
    const { view } = await ended(refused.handle);
    expect(view.outcome).toMatchObject({ state: 'failed', reason: 'rejected_by_service' });
    for (const secret of [number, cvv, holder]) expect(JSON.stringify(view)).not.toContain(secret);
    expect(view.outcome?.detail).toContain('[redacted]');
    const broken = await answering(() => Promise.reject(new TypeError(echo)));
    expect((await untilFlow(broken.handle, () => true)).view.stage).toBe('outcome-unknown');
  });

  test('leaves nothing of a card in any history (decrypted, too), in the store, in the sandbox, or in a log', async () => {
    // One whose outcome is unknown leaves the most traces; also if this test runs alone.
    await fault('answer-lost');
    const unknown = await deposit('found-nowhere', SCALED);
    await untilFlow(unknown.handle, ({ view }) => view.stage === 'outcome-unknown');
    const seen: string[] = [];
    for (const handle of cards.started) {
      seen.push(await decryptedHistory(handle, bench.dataConverter));
      seen.push(JSON.stringify(await handle.query('flow').catch(() => null)));
    }
    expect(canariesIn(JSON.stringify(CANARY_CARD)).length).toBeGreaterThan(4);
    expect(canariesIn('01935c2a-6f10-7391-8bde-0123456789ab 7391')).toEqual(['7391']);
    expect(canariesIn('01935c2a-6f10-7391-8bde-0123456789ab')).toEqual([]);
    expect(seen.join('\n')).toContain('Thandi Payer');
    expect(canariesIn(seen.join('\n'))).toEqual([]);
    expect(canariesIn(await filesOf(bench.folder))).toEqual([]);
    expect(cards.logged.length).toBeGreaterThan(0);
    expect(canariesIn(JSON.stringify(cards.logged))).toEqual([]);
  });
});

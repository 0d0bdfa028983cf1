import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { pinOf } from '../../activities/claims.js';
import { submitUnderClaim } from '../../activities/submit-under-claim.js';
import { operations, type OperationName } from '../../src/contract/index.js';
import type { Operation } from '../../src/contract/operation.js';
import { NotSentError, RejectedError } from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { bolt11 } from '../flows/bolt11.js';
import { newReference } from '../harness/references.js';
import { depsOver } from './deciding-activities.js';
import { withTemporaryStore } from './temporary-store.js';

const NOW_MS = Date.UTC(2026, 5, 1);
const HOUR_MS = 3_600_000;
const newHash = () => newInvoice().paymentHash;
let hashes = 0;
/** An invoice of an hour, made now, and the hash of its payment. */
function newInvoice(createdAtMs = NOW_MS) {
  hashes += 1;
  const paymentHash = hashes.toString(16).padStart(64, '0');
  return { paymentHash, invoice: bolt11({ amountMsat: 5_000, paymentHash, createdAtMs }) };
}

/** Each member that says what is paid over Lightning, or until when, of each money operation. */
const MONEY = (Object.keys(operations) as OperationName[]).filter((name) => operations[name].effect === 'money');
const operationOf = (name: OperationName): Operation => operations[name];
const EVERY = MONEY.flatMap((name) =>
  Object.entries(operationOf(name).paymentRequest ?? {}).map(([path, by]) => [name, path, by] as const),
);
const OF_HASH = EVERY.filter(([, , by]) => by !== 'expiry');
const EXPIRING = EVERY.filter(([, , by]) => by !== 'hash');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Of every member, also inside of others, with a dot between the names. */
const pathsIn = ({ properties = {} }: Schema): readonly string[] =>
  Object.entries(properties).flatMap(([name, schema]) => [name, ...pathsIn(schema).map((path) => `${name}.${path}`)]);

/** The operation's example with this in that member. */
function bodyOf(name: OperationName, path: string, value: unknown): Record<string, unknown> {
  const body = structuredClone(operationOf(name).example) as Record<string, unknown>;
  const names = path.split('.');
  const holder = names.slice(0, -1).reduce((at, member) => at[member] as Record<string, unknown>, body);
  holder[names.at(-1)!] = value;
  return { ...body, chain: 'LIGHTNING', token: 'MSAT' };
}

describe('a payment request over Lightning', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  /** One claim, and attempts at it; the first byte leaves that long after its claim was marked. */
  function claimed(name: OperationName, request: unknown, reference = newReference('paid')) {
    const clock = { nowMs: NOW_MS };
    const flowId = `crypto-send/${reference}`;
    const key = { account: 'default', operation: name, reference };
    const deps = depsOver(store, { clock: { nowMs: () => clock.nowMs } as never, monotonicMs: () => 0 });
    const sent = { times: 0 };
    const attempt = async ({ afterMs = 0, error }: { readonly afterMs?: number; readonly error?: Error } = {}) =>
      submitUnderClaim(deps, {
        claim: { operation: name, reference, flowId, fingerprint: 'f', pin: await pinOf(deps) },
        guard: { flowId, statuses: [] },
        request: () => request,
        send: async (_, { stillValid }) => {
          clock.nowMs += afterMs;
          if (stillValid?.() === false) throw new NotSentError(name, 'expired');
          sent.times += 1;
          if (error !== undefined) throw error;
          return { id: 'S-1' };
        },
      });
    return { key, clock, sent, attempt, phase: async () => (await store.claims.get(key))?.phase };
  }
  const refused = { type: 'invalid_input', nonRetryable: true };
  const rejection = (name: OperationName) =>
    new RejectedError(name, {
      httpStatus: 400,
      message: 'no',
      fields: [],
      isRateExpired: false,
      isAboutReference: false,
    });

  it('is in every member of a body with a name for it, but for the date of a card', () => {
    const saysSo = (path: string) => /expir|bolt11|payment_?hash|validUntil/i.test(path) && !path.startsWith('card.');
    const said = MONEY.flatMap((name) =>
      pathsIn(z.toJSONSchema(operationOf(name).body!, { io: 'input', unrepresentable: 'any' }) as Schema)
        .filter(saysSo)
        .map((path) => `${name} ${path}`),
    );
    expect(said).toHaveLength(3);
    expect(EVERY.map(([name, path]) => `${name} ${path}`)).toEqual(expect.arrayContaining(said));
  });

  it('is in a member of each operation that makes or awaits one', () => {
    expect(EVERY.map(([name, path]) => `${name} ${path}`).toSorted()).toEqual([
      'createBridgeDeposit crypto_payment.bolt11',
      'createBridgeDeposit crypto_payment.expires_at',
      'createBridgeDeposit crypto_payment.payment_hash',
      'createOnramp receiverAddress',
      'sendCrypto receiverAddress',
    ]);
  });

  describe.each(OF_HASH)('of %s in %s', (name, path, by) => {
    const saying = ({ paymentHash, invoice }: ReturnType<typeof newInvoice>) => (by === 'hash' ? paymentHash : invoice);

    it('is sent for one reference, whose repetition is not refused, and for no other, in any spelling', async () => {
      const made = newInvoice();
      const first = claimed(name, bodyOf(name, path, saying(made)));
      expect(await first.attempt()).toMatchObject({ kind: 'accepted' });
      expect(await first.attempt()).toMatchObject({ kind: 'accepted' });
      expect(first.sent.times).toBe(1);
      const said = saying(made);
      for (const text of [said, said.toUpperCase(), by === 'hash' ? `0x${said}` : `lightning:${said}`]) {
        const other = claimed(name, bodyOf(name, path, text));
        await expect(other.attempt()).rejects.toMatchObject(refused);
        expect([other.sent.times, await other.phase()]).toEqual([0, 'reserved']);
      }
    });

    it('is not sent for one that a POST of another operation has', async () => {
      const made = newInvoice();
      const debt = { account: 'default', operation: 'provideRefundInvoice', reference: newReference('refund') };
      expect(await store.debts.take(made.paymentHash, debt)).toBe(true);
      const other = claimed(name, bodyOf(name, path, saying(made)));
      await expect(other.attempt()).rejects.toMatchObject(refused);
      expect(other.sent.times).toBe(0);
    });

    it('is sent again for the same reference after proof that it was not sent', async () => {
      const { sent, attempt } = claimed(name, bodyOf(name, path, saying(newInvoice())));
      await expect(attempt({ error: new NotSentError(name, 'refused') })).rejects.toMatchObject({ type: 'not_sent' });
      expect(await attempt()).toMatchObject({ kind: 'accepted' });
      expect(sent.times).toBe(2);
    });

    it('is sent for another reference once the service has refused the first', async () => {
      const body = bodyOf(name, path, saying(newInvoice()));
      expect(await claimed(name, body).attempt({ error: rejection(name) })).toMatchObject({ kind: 'rejected' });
      const second = claimed(name, body);
      expect(await second.attempt()).toMatchObject({ kind: 'accepted' });
    });
  });

  it('is none in what is paid on a chain or in fiat: one address, or one text, is sent for any number of references', async () => {
    const bodies = MONEY.map((name) => [name, operationOf(name).example] as const);
    const onChain = bodyOf('createBridgeDeposit', 'crypto_payment.payment_hash', newHash());
    for (const [name, body] of [
      ...bodies,
      ['createBridgeDeposit', { ...onChain, chain: 'CELO', token: 'USDC' }] as const,
    ]) {
      for (let times = 1; times <= 2; times += 1) {
        expect([name, await claimed(name, body).attempt()]).toMatchObject([name, { kind: 'accepted' }]);
      }
    }
  });

  describe.each(EXPIRING)('of %s in %s', (name, path, by) => {
    const expiringAfter = (ms: number) =>
      bodyOf(name, path, by === 'invoice' ? newInvoice(NOW_MS + ms - HOUR_MS).invoice : new Date(NOW_MS + ms).toISOString()); // prettier-ignore

    it('that has expired is not sent: its claim was never marked, and its flow ends', async () => {
      const { sent, attempt, phase } = claimed(name, expiringAfter(0));
      await expect(attempt()).rejects.toMatchObject(refused);
      expect([sent.times, await phase()]).toEqual([0, undefined]);
    });

    it('that expires between its claim and the first byte is not sent: the claim is handed back, its flow ends', async () => {
      const { sent, attempt, phase } = claimed(name, expiringAfter(5_000));
      await expect(attempt({ afterMs: 5_000 })).rejects.toMatchObject({ type: 'not_sent' });
      expect(await phase()).toBe('reserved');
      await expect(attempt()).rejects.toMatchObject(refused);
      expect([sent.times, await phase()]).toEqual([0, 'reserved']);
    });

    it('that is still good at the first byte is sent', async () => {
      const { sent, attempt } = claimed(name, expiringAfter(5_000));
      expect(await attempt({ afterMs: 4_999 })).toMatchObject({ kind: 'accepted' });
      expect(sent.times).toBe(1);
    });

    it('that has expired is not sent again, and what was sent before stays unknown', async () => {
      const { key, clock, sent, attempt, phase } = claimed(name, expiringAfter(5_000));
      await attempt({ error: new TypeError('cut off') });
      await store.claims.orderSendAgain(key, 'ordered', { actor: 'jane', note: '' });
      clock.nowMs += 5_000;
      expect(await attempt()).toMatchObject({ kind: 'unknown', repeat: 'unknown', refused: expect.any(String) });
      expect([sent.times, await phase()]).toEqual([1, 'sending']);
    });
  });
});

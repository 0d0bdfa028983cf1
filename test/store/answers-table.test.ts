import { describe, expect, it } from '@jest/globals';
import { createFlowStepActivities } from '../../activities/flow-steps.js';
import { pinOf } from '../../activities/claims.js';
import { createServiceClient } from '../../src/service-client/index.js';
import type { Send, WireResult } from '../../src/service-client/send.js';
import type { Store } from '../../src/store/store.js';
import { newReference } from '../harness/references.js';
import bankWithdrawal from '../kinds/bank-withdrawal.js';
import cryptoSend from '../kinds/crypto-send.js';
import { asActivity, depsOver } from './deciding-activities.js';
import { withTemporaryStore } from './temporary-store.js';

/*
 * Every answer to a POST that moves money: its status, its body by whom, what the lookup shows, and what became of the POSTs
 * before it. The expectations are written in words of their own, so that they share no mistake with the tables.
 */

const STATUSES = [
  200, 201, 204, 299, 300, 302, 304, 400, 401, 402, 403, 404, 405, 408, 409, 410, 418, 422, 429, 451, 500, 502, 503,
];

type By = 'success' | 'duplicate' | 'refusal' | 'rate' | 'reference' | 'record' | 'foreign';
/** Bodies, by whom they are. */
const BODIES: readonly (readonly [By, string, (status: number, record: object) => string])[] = [
  ['success', 'an envelope of success', (_, data) => json({ success: true, message: 'ok', data })],
  ['duplicate', 'a record with the status DUPLICATE', (_, data) => json({ success: true, message: 'ok', data: { ...data, status: 'DUPLICATE' } })],
  ['duplicate', 'an own body with words for a duplicate', () => json({ success: false, message: 'Duplicate transaction', data: { errors: [] } })],
  ['duplicate', 'an own body with a code for a duplicate', () => json({ status: 'error', message: 'no', error_code: 'REFERENCE_ALREADY_USED', timestamp: 'x' })],
  ['refusal', 'an own body with a number', () => json({ success: false, message: 'Insufficient Funds', error_code: 400, data: { errors: [] } })],
  ['refusal', 'an own body without a code', () => json({ success: false, message: 'Too many requests', data: { errors: [] } })],
  ['refusal', 'an own body with a word', () => json({ status: 'error', message: 'Transaction failed', error_code: 'TRANSACTION_FAILED', timestamp: 'x' })],
  ['refusal', 'an own body with its status', (statusCode) => json({ statusCode, message: 'Too many requests', error: 'no', data: { retryAfter: 1 } })],
  ['rate', 'an own body about its rate', () => json({ success: false, message: 'Rate Expired', data: { errors: [] } })],
  ['reference', 'an own body about its reference', () => json({ success: false, message: 'Bad reference', data: { errors: [] } })],
  ['record', 'an own refusal with a whole record', (_, data) => json({ success: false, message: 'no', data })],
  ['foreign', 'a page', () => '<!doctype html><title>Rate expired</title>'],
  ['foreign', 'nothing', () => ''],
  ['foreign', 'problem+json', (status) => json({ type: 'about:blank', title: 'Forbidden', status, detail: 'Duplicate transaction' })],
  ['foreign', 'a framework', (statusCode) => json({ statusCode, message: 'Too many requests', error: 'no' })],
  ['foreign', 'an own body with another status', (status) => json({ statusCode: status + 1, message: 'no', error: 'no', data: {} })],
  ['foreign', 'an own body without a reason', () => json({ success: false, data: { errors: [] } })],
  ['foreign', 'half a body', () => '{"success":false,"mess'],
]; // prettier-ignore

const LOOKUPS = ['shown', 'other', 'absent', 'refused', 'page'] as const;
type Lookup = (typeof LOOKUPS)[number];
type Before = 'nothing' | 'turned away' | 'unknown';

const json = (value: unknown) => JSON.stringify(value);
const within = (status: number, ...some: readonly number[]) => some.includes(status);
const isSuccess = (status: number) => Math.floor(status / 100) === 2;

interface Expected {
  readonly outcome: string;
  readonly phase: string;
}
const UNKNOWN: Expected = { outcome: 'unknown', phase: 'sending' };

function expectedOf(by: By, status: number, lookup: Lookup | 'none', before: Before): Expected {
  if (by === 'duplicate') return { outcome: 'duplicate', phase: 'sending' };
  if (by === 'success') return isSuccess(status) ? { outcome: 'accepted', phase: 'answered' } : UNKNOWN;
  if (by === 'foreign') return UNKNOWN;
  if (by === 'record') return UNKNOWN;
  if (status === 409) return { outcome: 'duplicate', phase: 'sending' };
  if (status === 401) return { outcome: 'unauthorized', phase: 'reserved' };
  if (status === 429) return { outcome: 'rate_limited', phase: 'reserved' };
  if (!isSuccess(status) && !within(status, 400, 403, 404, 422)) return UNKNOWN;
  // A refusal, in words of the service.
  if (before === 'unknown' || by === 'reference') return UNKNOWN;
  const stands = lookup === 'none' ? by !== 'rate' : lookup === 'absent';
  return stands ? { outcome: 'rejected', phase: 'rejected' } : UNKNOWN;
}

describe('the answer to a POST that moves money', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  interface Made {
    readonly kind: string;
    readonly step: string;
    readonly operation: string;
    readonly inputOf: (reference: string) => object;
  }
  const LOOKED_UP: Made = { kind: 'crypto-send', step: 'send', operation: 'sendCrypto', inputOf: cryptoSend.input };
  const NOT_LOOKED_UP: Made = {
    kind: 'bank-withdrawal',
    step: 'withdraw',
    operation: 'createBankWithdrawal',
    inputOf: bankWithdrawal.input,
  };
  const answered = (httpStatus: number, text: string): WireResult => ({
    kind: 'answer',
    httpStatus,
    bytes: new TextEncoder().encode(text),
    headers: {},
  });
  // Pauses take no time.
  const clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    after: (_ms: number, work: () => void) => (queueMicrotask(work), () => undefined),
  };

  /** One POST after those before it, and what its attempt says. */
  const outcomeOf = async (
    { kind, step, operation, inputOf }: Made,
    answer: (record: object) => WireResult,
    lookup: Lookup | 'none',
    before: Before,
  ) => {
    const reference = newReference('answers');
    const flowId = `${kind}/${reference}`;
    const key = { account: 'default', operation, reference };
    const input = inputOf(reference) as Readonly<Record<string, unknown>>;
    const record = { ...input, cryptoWallet: input['receiverAddress'], status: 'PENDING' };
    let isAnswered = false;
    let next: () => WireResult = () => ({ kind: 'doubt', reason: 'timeout' });
    const lookups: Readonly<Record<Lookup, WireResult>> = {
      shown: answered(200, json({ success: true, message: 'ok', data: record })),
      other: answered(200, json({ success: true, message: 'ok', data: { ...record, cryptoAmount: '9999' } })),
      absent: answered(404, json({ success: false, message: 'Not found', data: {} })),
      refused: answered(403, json({ success: false, message: 'Forbidden' })),
      page: answered(404, '<html>'),
    };
    const send: Send = async (request) => {
      if (request.operation.effect === 'money') return next();
      // Nothing is there right before the POST.
      return lookup === 'none' || !isAnswered ? lookups.absent : lookups[lookup];
    };
    const service = createServiceClient({ baseUrl: 'http://127.0.0.1:9', token: async () => 'token', send });
    const deps = { ...depsOver(store, { clock }), service };
    const made = createFlowStepActivities(deps);
    const pin = await pinOf(deps);
    const order = { flowId, step, input: { ...input, callbackUrl: undefined }, pin, reviewedEventIds: [] };
    const attempt = () =>
      asActivity(() => made.submitStep(order)).then(
        (outcome) => outcome.kind as string,
        (error: { type?: string }) => error.type ?? 'an error',
      );
    if (before === 'turned away') {
      next = () => answered(429, json({ success: false, message: 'Too many requests' }));
      await attempt();
    }
    if (before === 'unknown') {
      await attempt();
      await store.claims.orderSendAgain(key, 'ordered', { actor: 'ada', note: 'n' });
    }
    next = () => {
      isAnswered = true;
      return answer(record);
    };
    const outcome = await attempt();
    return { outcome, phase: (await store.claims.get(key))?.phase ?? 'absent' };
  };

  const walk = async (
    made: Made,
    cells: readonly { status: number; body: (typeof BODIES)[number]; lookup: Lookup | 'none'; before: Before }[],
  ) => {
    const wrong: object[] = [];
    for (const { status, body, lookup, before } of cells) {
      const [by, name, text] = body;
      const found = await outcomeOf(made, (record) => answered(status, text(status, record)), lookup, before);
      const expected = expectedOf(by, status, lookup, before);
      if (json(found) !== json(expected)) wrong.push({ status, name, lookup, before, found, expected });
    }
    return wrong;
  };
  const cells = (statuses: readonly number[], lookups: readonly (Lookup | 'none')[], befores: readonly Before[]) =>
    statuses.flatMap((status) =>
      BODIES.flatMap((body) =>
        lookups.flatMap((lookup) => befores.map((before) => ({ status, body, lookup, before }))),
      ),
    );

  it('is judged by its body, then by its status, then its lookup: every status, body and lookup', async () => {
    const decidedByLookup = [200, 400, 403, 404, 422];
    const elsewhere = STATUSES.filter((status) => !decidedByLookup.includes(status));
    expect(await walk(LOOKED_UP, cells(decidedByLookup, LOOKUPS, ['nothing']))).toEqual([]);
    expect(await walk(LOOKED_UP, cells(elsewhere, ['absent', 'shown'], ['nothing']))).toEqual([]);
  }, 120_000);

  it('is judged by its body, then by its status, where there is no lookup: every status and body', async () => {
    expect(await walk(NOT_LOOKED_UP, cells(STATUSES, ['none'], ['nothing']))).toEqual([]);
  }, 120_000);

  it.each(['turned away', 'unknown'] as const)(
    'to a repeat proves nothing that the POSTs before it deny: %s',
    async (before) => {
      const some = [200, 302, 400, 401, 403, 409, 429, 503];
      expect(await walk(NOT_LOOKED_UP, cells(some, ['none'], [before]))).toEqual([]);
      expect(await walk(LOOKED_UP, cells(some, ['absent', 'shown'], [before]))).toEqual([]);
    },
    120_000,
  );
});

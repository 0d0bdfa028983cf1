import { describe, expect, it } from '@jest/globals';
import { answerWithoutCard, createCardActivities, refusalWithoutCard } from '../../activities/card-deposit.js';
import { pinOf } from '../../activities/claims.js';
import type { Card } from '../../src/contract/deposit.js';
import {
  DuplicateReferenceError,
  InvalidRequestError,
  NotSentError,
  RateLimitedError,
  RejectedError,
  UnknownOutcomeError,
} from '../../src/service-client/index.js';
import type { Store } from '../../src/store/store.js';
import { CANARY_CARD, SOUTH_AFRICAN_PAYER } from '../harness/parties.js';
import { newReference } from '../harness/references.js';
import { asActivity, depsOver, type Replaced } from './deciding-activities.js';
import { anEvent, withTemporaryStore } from './temporary-store.js';

const TOKEN = 'card-token';
const THEIRS = 'theirs';
const refusal = (more: object = {}) =>
  new RejectedError('createCardDeposit', {
    httpStatus: 400,
    message: 'declined',
    fields: ['card'],
    isRateExpired: false,
    isAboutReference: false,
    ...more,
  });

describe('submitCardDeposit, with the card in the memory of its gateway,', () => {
  let store: Store;
  withTemporaryStore((opened) => (store = opened));

  /** The cards of one gateway, with what was done to them. */
  const cardsOf = (card: Card | undefined) => {
    const done: string[] = [];
    const note = (what: string) => (token: string) => void done.push(`${what}:${token}`);
    const take = (token: string) => {
      note('take')(token);
      return card;
    };
    return { done, cards: { take, putBack: note('putBack'), forget: note('forget') } };
  };
  const send = async (
    createCardDeposit: (...given: readonly unknown[]) => Promise<unknown>,
    more: { readonly card?: Card | undefined; readonly replaced?: Replaced; readonly event?: string } = {},
  ) => {
    const { card = CANARY_CARD, replaced = {}, event } = more;
    const { cards, done } = cardsOf('card' in more ? more.card : card);
    const reference = newReference('card');
    const flowId = `card-deposit/${reference}`;
    if (event !== undefined)
      await store.inbox.receive(anEvent({ flowId, reference, status: event, contentHash: flowId }));
    const deps = depsOver(store, { ...replaced, service: { createCardDeposit } });
    const input = { referenceId: reference, ...SOUTH_AFRICAN_PAYER, cardToken: TOKEN };
    const pin = await pinOf({ store, account: 'default' });
    const made = createCardActivities(deps, cards);
    const run = () => made.submitCardDeposit({ flowId, input, pin, reviewedEventIds: [], mostMs: 4_000 });
    const outcome = await asActivity(run).catch((thrown: unknown) => ({ thrown }));
    const claim = await store.claims.get({ account: 'default', operation: 'createCardDeposit', reference });
    return { outcome, done, claim, reference };
  };
  const failing = (thrown: Error) => () => Promise.reject(thrown);

  it('sends the card with the deposit once, keeps nothing of it, and forgets it', async () => {
    const sent: unknown[] = [];
    const { outcome, done, claim, reference } = await send(async (...given) => {
      sent.push(...given);
      return { reference_id: THEIRS, message: 'charged', more: CANARY_CARD.number };
    });
    expect(outcome).toEqual({
      kind: 'accepted',
      answer: { reference_id: THEIRS, message: 'charged' },
      recorded: true,
    });
    expect(done).toEqual([`take:${TOKEN}`, `forget:${TOKEN}`]);
    const { amount, ...payer } = SOUTH_AFRICAN_PAYER;
    expect(sent[0]).toEqual({
      ...payer,
      amount: Number(amount),
      referenceId: reference,
      card: CANARY_CARD,
      callbackUrl: expect.stringContaining('http://127.0.0.1:9/'),
    });
    // The answer is not kept as it came: it may repeat the card.
    expect(sent[1]).toEqual({ mostMs: 4_000, stillValid: expect.any(Function) });
    expect(claim).toMatchObject({ phase: 'answered', answer: { reference_id: THEIRS } });
    expect(claim).not.toHaveProperty('kept');
  });

  it('returns card-gone, without a POST, if the card is not there any more', async () => {
    const { outcome, done, claim } = await send(async () => ({}), { card: undefined });
    expect(outcome).toEqual({ kind: 'card-gone', why: expect.any(String) });
    expect([done, claim]).toEqual([[`take:${TOKEN}`], undefined]);
  });

  it.each<[string, Error, object]>([
    ['connection was refused', new NotSentError('createCardDeposit', 'refused'), { why: 'not_sent', afterMs: null }],
    ['service is busy', new RateLimitedError('createCardDeposit', 1_500), { why: 'rate_limited', afterMs: 1_500 }],
  ])('returns not-sent, and puts the card back, if the %s', async (_, error, not) => {
    const { outcome, done, claim } = await send(failing(error));
    expect(outcome).toEqual({ kind: 'not-sent', ...not });
    expect(done).toEqual([`take:${TOKEN}`, `putBack:${TOKEN}`]);
    expect(claim).toMatchObject({ phase: 'reserved' });
  });

  it('fails for good, as invalid_input, and forgets the card, if the request cannot be put on the wire', async () => {
    const { outcome, done } = await send(failing(new InvalidRequestError('createCardDeposit', [])));
    expect(outcome).toMatchObject({ thrown: { type: 'invalid_input', nonRetryable: true } });
    expect(done).toEqual([`take:${TOKEN}`, `forget:${TOKEN}`]);
  });

  it('fails, and forgets the card, at a bug of ours before the POST', async () => {
    const bug = new TypeError('a bug');
    const newOwner = () => {
      throw bug;
    };
    const { outcome, done } = await send(async () => ({}), { replaced: { newOwner } });
    expect(outcome).toEqual({ thrown: bug });
    expect(done).toEqual([`take:${TOKEN}`, `forget:${TOKEN}`]);
  });

  it.each<[string, Error, object]>([
    ['is unknown', new UnknownOutcomeError('createCardDeposit', 'timeout'), { kind: 'unknown', reason: 'timeout' }],
    ['is a duplicate', new DuplicateReferenceError('createCardDeposit', 409), { kind: 'duplicate' }],
  ])(
    'allows no repeat if the outcome %s, whatever the settings say, since the card is gone',
    async (_, error, outcome) => {
      const sent = await send(failing(error), { replaced: { repeatSettingOf: () => 'same-result' } });
      expect(sent.outcome).toEqual({ ...outcome, repeat: 'unknown' });
      expect(sent.done).toEqual([`take:${TOKEN}`, `forget:${TOKEN}`]);
    },
  );

  it('returns rejected, and forgets the card, if the service refuses the deposit', async () => {
    const { outcome, done } = await send(failing(refusal()));
    expect(outcome).toStrictEqual({
      kind: 'rejected',
      rejection: { httpStatus: 400, message: 'declined' },
      owner: expect.any(String),
      recorded: true,
    });
    expect(done).toEqual([`take:${TOKEN}`, `forget:${TOKEN}`]);
  });

  it('returns contradicted, without a POST, against a trusted event that shows it done', async () => {
    let sent = 0;
    const { outcome } = await send(async () => ({ n: (sent += 1) }), { event: 'SUCCESSFUL' });
    expect({ outcome, sent }).toEqual({ outcome: { kind: 'contradicted' }, sent: 0 });
  });
});

describe('an answer or a refusal of a card deposit, without the card,', () => {
  const card = CANARY_CARD;

  it('has those members of the contract that are texts', () => {
    const members = {
      id: 'i-1',
      message: 'seen',
      reference_id: 'r-1',
      reference_number: 'n-1',
      customer_key: 'c-1',
      redirect_url: 'https://3ds.example/1',
    };
    expect(answerWithoutCard({ ...members, other: 'x' }, card)).toEqual(members);
    expect(answerWithoutCard({ id: 7, message: { n: 1 }, reference_id: null } as never, card)).toEqual({});
    expect(answerWithoutCard({ id: `x-${card.number}` } as never, card)).toEqual({});
  });

  const said = (message: string, of: Card = card) => answerWithoutCard({ message } as never, of).message;

  it('has no spelling of the expiry date', () => {
    const may: Card = { ...card, expiryMonth: '3', expiryYear: '27' };
    const spelled = { '3/2027': 2, '03/27': 2, '0327': 1, '2703': 1, '202703': 1, '27': 1 };
    for (const [date, parts] of Object.entries(spelled))
      expect([date, said(date, may)]).toEqual([date, Array.from({ length: parts }, () => '[redacted]').join('/')]);
    for (const other of ['4', '2028', '30']) expect(said(other, may)).toBe(other);
  });

  it("has no word of the holder's name, in any case, and still every longer word", () => {
    const ann: Card = { ...card, holder: "Ann O'Lee-Day" };
    for (const word of ['ANN', 'Lee', 'day']) expect([word, said(word, ann)]).toEqual([word, '[redacted]']);
    expect(said('Annika', ann)).toBe('Annika');
    const { holder: _, ...unnamed } = card;
    expect(said('Ann other', unnamed)).toBe('Ann other');
    expect(said('a b', { ...card, holder: ' - ' })).toBe('a b');
  });

  it("has the refusal's code unless it is of the card, and all that the flow judges by", () => {
    const cleaned = (more: object) => refusalWithoutCard(refusal(more), card) as RejectedError;
    const kept = { httpStatus: 422, code: 'LIMIT', fields: ['amount'], isRateExpired: true, isAboutReference: true };
    expect(cleaned({ ...kept, message: 'no' })).toMatchObject({
      ...kept,
      message: 'no',
      operation: 'createCardDeposit',
    });
    for (const code of [card.cvv, card.number, '1147', '2047']) expect(cleaned({ code }).code).toBeUndefined();
    expect(cleaned({}).code).toBeUndefined();
    const silent = cleaned({ message: undefined });
    expect(silent).toMatchObject({ hasReason: false, httpStatus: 400 });
    const other = new TypeError('x');
    expect(refusalWithoutCard(other, card)).toBe(other);
  });
});

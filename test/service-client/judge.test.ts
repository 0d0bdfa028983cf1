import { describe, expect, it } from '@jest/globals';
import type { OperationName } from '../../src/contract/index.js';
import { judge, readJson, type JudgeOptions } from '../../src/service-client/judge.js';
import type { WireResult } from '../../src/service-client/send.js';

const bytes = (body: unknown) => new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
const OPTIONS: JudgeOptions = { redact: (text) => text, nowMs: () => 0, duplicateWords: [] };

/** The data, or the error. */
function judged(name: OperationName, result: WireResult, options: Partial<JudgeOptions> = {}): unknown {
  try {
    return judge(name, result, { ...OPTIONS, ...options });
  } catch (error) {
    return error;
  }
}
const answer = (httpStatus: number, body: unknown, headers: Record<string, string> = {}): WireResult => ({
  kind: 'answer',
  httpStatus,
  bytes: bytes(body),
  headers,
});
const sent = (httpStatus: number, body: unknown, options?: Partial<JudgeOptions>) =>
  judged('sendCrypto', answer(httpStatus, body), options);
const read = (httpStatus: number, body: unknown, options?: Partial<JudgeOptions>) =>
  judged('getCryptoSend', answer(httpStatus, body), options);
const record = { referenceId: 'r-1', status: 'PENDING', id: 's-1', customerKey: 'c-1' };
const envelope = (data: unknown) => ({ success: true, message: 'ok', data });
const refusedWith = (members: object) => sent(400, { success: false, message: 'no', ...members });

describe('what is judged of a request', () => {
  it('that was not sent, or whose answer did not come, is why', () => {
    expect(judged('sendCrypto', { kind: 'not-sent', reason: 'dns' })).toMatchObject({
      name: 'NotSentError',
      reason: 'dns',
    });
    const doubt: WireResult = { kind: 'doubt', reason: 'timeout' };
    expect(judged('sendCrypto', doubt)).toMatchObject({ name: 'UnknownOutcomeError', reason: 'timeout' });
    expect(judged('createApiKey', doubt)).toMatchObject({ name: 'UnknownOutcomeError', reason: 'timeout' });
    for (const name of ['getCryptoSend', 'quoteBridge', 'reportSettlement'] as const)
      expect(judged(name, doubt)).toMatchObject({ name: 'ServiceUnavailableError', reason: 'timeout' });
  });

  it.each([
    [300, 'redirect'],
    [399, 'redirect'],
    [299, 'unreadable-body'],
    [402, 'http-status'],
    [199, 'http-status'],
    [500, 'http-status'],
  ])('with the status %d is in doubt (%s)', (httpStatus, reason) => {
    expect(sent(httpStatus, '<html>')).toMatchObject({ name: 'UnknownOutcomeError', reason, httpStatus });
    expect(read(httpStatus, '<html>')).toMatchObject({ name: 'ServiceUnavailableError', reason, httpStatus });
  });

  it('waits for as long as a 429 asks, in its header or its body', () => {
    expect(judged('sendCrypto', answer(429, '', { 'retry-after': '7' }))).toMatchObject({ retryAfterMs: 7_000 });
    expect(sent(429, { retry_after: 9 })).toMatchObject({ name: 'RateLimitedError', retryAfterMs: 9_000 });
  });

  it('is read, although the answer of a report has no data at all', () => {
    expect(judged('reportSettlement', answer(201, { success: true, message: 'ok' }))).toEqual({});
  });

  it('is unknown for money, and a broken contract for a read, if the data has another shape', () => {
    expect(sent(200, envelope({ id: {} }))).toMatchObject({ name: 'UnknownOutcomeError', reason: 'wrong-shape' });
    expect(read(200, envelope({ status: 'PENDING', referenceId: [] }))).toMatchObject({ name: 'ContractBrokenError' });
  });

  it('is a record of another reference only by the member that the request was made with', () => {
    const ours = { reference: 'r-1' };
    expect(read(200, envelope({ ...record, referenceId: 'r-2' }), ours)).toMatchObject({
      name: 'ContractBrokenError',
      paths: [expect.stringMatching(/^referenceId: /)],
    });
    expect(sent(200, envelope({ ...record, referenceId: 'r-2' }), ours)).toMatchObject({
      name: 'UnknownOutcomeError',
      reason: 'other-reference',
    });
    for (const referenceId of ['r-1', '', undefined]) {
      const outcome = sent(200, envelope({ ...record, referenceId }), ours);
      expect(outcome).not.toMatchObject({ reason: 'other-reference' });
    }
    // Without a reference in the request there is nothing to compare.
    expect(read(200, envelope({ ...record, referenceId: 'r-2' }))).toMatchObject({ referenceId: 'r-2' });
    const mobileMoney = { status: 'SUCCESSFUL', reference_id: 'of-the-service', amount: '1' };
    expect(judged('getMobileMoneyDeposit', answer(200, envelope(mobileMoney)), ours)).toMatchObject(mobileMoney);
  });

  it('is a duplicate by the status of its record for money, and just its status for a read', () => {
    const duplicate = envelope({ ...record, status: 'DUPLICATE_REFERENCE' });
    expect(sent(200, duplicate)).toMatchObject({ name: 'DuplicateReferenceError', httpStatus: 200 });
    expect(read(200, duplicate)).toMatchObject({ status: 'DUPLICATE_REFERENCE' });
    expect(sent(200, envelope({ ...record, status: 'NOT_DUPLICATE' }))).toMatchObject({ status: 'NOT_DUPLICATE' });
  });

  it('is refused for a read by a 2xx that says no, whatever record is with it', () => {
    const no = { success: false, message: 'no', data: record };
    expect(read(200, no)).toMatchObject({ name: 'RejectedError', message: 'no', isNotFound: false });
    expect(sent(200, no)).toMatchObject({ name: 'UnknownOutcomeError', reason: 'contradictory' });
    expect(sent(200, { success: false, error_code: 'E_1' })).toMatchObject({ name: 'RejectedError', code: 'E_1' });
  });

  it('is about its reference only for what binds', () => {
    const duplicate = { success: false, message: 'Transaction already exists' };
    expect(read(400, duplicate)).toMatchObject({ name: 'RejectedError', isAboutReference: false });
    expect(read(409, duplicate)).toMatchObject({ name: 'RejectedError', httpStatus: 409 });
    expect(judged('createApiKey', answer(409, duplicate))).toMatchObject({ name: 'DuplicateReferenceError' });
    expect(read(400, { success: false, message: 'bad reference' })).toMatchObject({ isAboutReference: false });
    expect(sent(400, { success: false, message: 'bad reference' })).toMatchObject({ isAboutReference: true });
  });
});

describe('what a refusal says', () => {
  it.each([
    [{ message: 'a', error: 'b' }, 'a'],
    [{ message: ' ', error: ' b ' }, 'b'],
    [{ message: undefined, error: 'b' }, 'b'],
    [{ message: ['a', { not: 'text' }, 'b'] }, 'a; b'],
    [{ message: 7 }, '7'],
  ])('is its message, or its error: %j', (members, message) => {
    expect(refusedWith(members)).toMatchObject({ name: 'RejectedError', message, hasReason: true });
  });

  it.each([
    [{ error_code: 'E1', code: 'E2', data: { error_code: 'E3' } }, 'E1'],
    [{ code: 'E2', data: { error_code: 'E3' } }, 'E2'],
    [{ data: { error_code: 'E3', code: 'E4' } }, 'E3'],
    [{ data: { code: 'E4' } }, 'E4'],
    [{ code: 42 }, '42'],
    [{ code: 'x'.repeat(61) }, 'x'.repeat(60)],
    [{ code: {} }, undefined],
  ])('has a code of at most 60 characters, if there is one: %j', (members, code) => {
    expect(refusedWith(members)).toMatchObject({ name: 'RejectedError', code });
  });

  it('is nothing if there is neither', () => {
    const silent = sent(400, { success: false, message: {}, code: null });
    expect(silent).toMatchObject({ name: 'RejectedError', hasReason: false, code: undefined });
    expect(sent(400, { success: false, code: 'E1' })).toMatchObject({ hasReason: true });
  });

  it('is redacted, both text and code', () => {
    const redact = (text: string) => text.replaceAll('secret', '…');
    const body = { success: false, message: 'the secret', code: 'secret-1' };
    expect(sent(400, body, { redact })).toMatchObject({ message: 'the …', code: '…-1' });
  });

  it.each([
    [{ data: { errors: [{ path: 'a' }, { field: 'b' }, { param: 'c' }, { property: 'd' }] } }, ['a', 'b', 'c', 'd']],
    [{ errors: [{ path: 'a', field: 'b', param: 'c', property: 'd' }] }, ['a']],
    [
      {
        errors: [
          { field: 'b', param: 'c' },
          { param: 'c', property: 'd' },
        ],
      },
      ['b', 'c'],
    ],
    [{ data: { errors: [{ path: 'inner' }] }, errors: [{ path: 'outer' }] }, ['inner']],
    [{ errors: [{ path: ['settlement', 'amount'] }] }, ['settlement.amount']],
    [{ errors: { amount: ['too small'], chain: 'unknown' } }, ['amount', 'chain']],
    [{ errors: [{ path: '4111 1111' }, { path: 7 }, 'text', null, { path: 'x'.repeat(101) }] }, []],
    [
      { errors: Array.from({ length: 30 }, (_, n) => ({ path: `f${n}` })) },
      Array.from({ length: 20 }, (_, n) => `f${n}`),
    ],
    [{ errors: 'text' }, []],
  ])('names at most 20 fields, and never a value: %j', (members, fields) => {
    expect(refusedWith(members)).toMatchObject({ fields });
  });

  it.each([
    [{ message: 'Rate expired' }, true],
    [{ message: 'the quote has expired' }, true],
    [{ message: 'Expired: get a new rate' }, true],
    [{ message: 'no', code: 'QUOTE_EXPIRED' }, true],
    [{ message: 'quote', code: 'EXPIRED' }, true],
    [{ message: undefined, code: 'EXPIRED_RATE' }, true],
    [{ message: 'the card has expired' }, false],
    [{ message: 'bad rate' }, false],
    [{ message: 'the corporate card expired' }, false],
  ])('may be that the quote ran out: %j', (members, isRateExpired) => {
    expect(refusedWith(members)).toMatchObject({ isRateExpired });
  });

  it.each(['message', 'error', 'error_code', 'code', 'status', 'reason', 'detail'])(
    'is a duplicate in its member "%s", at its root or in its data',
    (member) => {
      const said = { [member]: 'already exists' };
      expect(sent(400, said)).toMatchObject({ name: 'DuplicateReferenceError' });
      expect(sent(400, { success: false, data: said })).toMatchObject({ name: 'DuplicateReferenceError' });
    },
  );

  it('is looked for in texts within texts, and in the names of members, to a depth and a number', () => {
    const isDuplicate = (errors: unknown) => (refusedWith({ errors }) as Error).name === 'DuplicateReferenceError';
    const within = (depth: number): unknown => (depth === 0 ? 'already exists' : [within(depth - 1)]);
    expect([1, 4, 5, 6, 7].map((depth) => isDuplicate(within(depth)))).toEqual([true, true, true, false, false]);
    expect(isDuplicate({ alreadyExists: null })).toBe(true);
    expect(isDuplicate([null, 7, { a: { b: 'must be unique' } }])).toBe(true);
    expect(isDuplicate([7, null, true])).toBe(false);
  });

  it('is not read in the words of the reference itself', () => {
    const body = { success: false, message: 'r-already-exists is too long' };
    expect(sent(400, body, { reference: 'r-already-exists' })).toMatchObject({ name: 'RejectedError' });
    expect(sent(400, body)).toMatchObject({ name: 'DuplicateReferenceError' });
    // What is left on both sides of it is no new word.
    const around = { success: false, message: 'dupr-1licate' };
    expect(sent(400, around, { reference: 'r-1' })).toMatchObject({ name: 'RejectedError' });
  });

  it.each([
    [{ success: false, message: 'gone' }, true],
    [{ success: 'false', message: 'gone' }, true],
    [{ success: false, error_code: 'E' }, true],
    [{ success: true, message: 'gone' }, false],
    [{ status: 'error', message: 'gone', error_code: 'E' }, true],
    [{ status: 'error', message: 'gone' }, false],
    [{ status: 'fail', message: 'gone', error_code: 'E' }, false],
    [{ success: false }, false],
    [{ message: 'no such invoice' }, true],
    [{ detail: 'x', reason: 'unknown order' }, true],
    [{ success: false, message: 'gone', detail: 'no route' }, false],
    [{ message: 'no such invoice', detail: 'unknown host' }, false],
  ])('in a 404 is that there is no record, or nothing of it: %j', (body, isNotFound) => {
    expect(read(404, body)).toMatchObject({ name: 'RejectedError', isNotFound });
    expect(read(400, body)).toMatchObject({ isNotFound: false });
  });
});

describe('numbers in JSON', () => {
  const json = (text: string) => readJson(bytes(text));

  it('are numbers if JavaScript keeps them, and otherwise the text of the very amount', () => {
    expect(json('[0, -7, 999999999999999, 1.50, 2e3, -0.0, 0.1]')).toEqual([
      0, -7, 999_999_999_999_999, 1.5, 2_000, 0, 0.1,
    ]);
    expect(json('[9007199254740993, 1e-30, 1e-61, 12345678901234567.5]')).toEqual([
      '9007199254740993',
      1e-30,
      '1e-61',
      '12345678901234567.5',
    ]);
    expect(Object.is(json('-0'), 0)).toBe(true);
    expect(Object.is(json('-0.0'), 0)).toBe(true);
  });

  it('longer than any amount stay as they came', () => {
    const long = `1${'0'.repeat(130)}.5`;
    expect(json(long)).toBe(long);
  });

  it('beside null and nested lists are read, without any __proto__ in them', () => {
    expect(json('{"a":null,"b":[[{"__proto__":{"x":1},"c":1}]]}')).toEqual({ a: null, b: [[{ c: 1 }]] });
    const [inner] = (json('[[{"__proto__":{"x":1}}]]') as object[][])[0] ?? [];
    expect(Object.keys(inner ?? { not: 'there' })).toEqual([]);
    expect(Object.getPrototypeOf(inner)).not.toHaveProperty('x');
    expect(json('null')).toBeNull();
  });

  it('that cannot be read are an error with a name of its own, and without the text', () => {
    expect(() => json('{"secret":01}')).toThrow(
      expect.objectContaining({ name: 'UnreadableJsonError', message: expect.not.stringContaining('secret') }),
    );
  });
});

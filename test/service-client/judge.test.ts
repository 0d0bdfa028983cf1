import { describe, expect, it } from '@jest/globals';
import { OWN_ERROR_BODIES } from '../../src/contract/answers.js';
import type { OperationName } from '../../src/contract/index.js';
import { judge, readJson, UnreadableJsonError, type JudgeOptions } from '../../src/service-client/judge.js';
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

describe('judge, which reads an answer of the service', () => {
  it('returns not-sent or no answer with the reason when the exchange itself failed', () => {
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
    [403, 'http-status'],
    [199, 'http-status'],
    [500, 'http-status'],
  ])('is in doubt about a request that is answered with status %d (%s)', (httpStatus, reason) => {
    expect(sent(httpStatus, '<html>')).toMatchObject({ name: 'UnknownOutcomeError', reason, httpStatus });
    expect(read(httpStatus, '<html>')).toMatchObject({ name: 'ServiceUnavailableError', reason, httpStatus });
  });

  it('asks to wait for as long as a 429 of the service demands, in its header or its body', () => {
    const limited = { success: false, message: 'Too many requests' };
    expect(judged('sendCrypto', answer(429, limited, { 'retry-after': '7' }))).toMatchObject({ retryAfterMs: 7_000 });
    expect(sent(429, { ...limited, retry_after: 9 })).toMatchObject({ name: 'RateLimitedError', retryAfterMs: 9_000 });
    expect(sent(401, limited)).toMatchObject({ name: 'TurnedAwayError', reason: 'unauthorized' });
  });

  it('finds a read turned away by a 401 or a 429 of any party on the way, since it can be asked again', () => {
    expect(judged('getCryptoSend', answer(429, '<html>', { 'retry-after': '7' }))).toMatchObject({
      name: 'RateLimitedError',
      retryAfterMs: 7_000,
    });
    expect(read(401, '')).toMatchObject({ name: 'TurnedAwayError', reason: 'unauthorized' });
    expect(judged('createApiKey', answer(429, '<html>'))).toMatchObject({ name: 'UnknownOutcomeError' });
  });

  it.each([400, 401, 403, 404, 409, 422, 429])(
    'is in doubt about status %d when the service did not write the body: unknown for money and the account, asked again otherwise',
    (httpStatus) => {
      const foreign = [
        '',
        '<html>Forbidden</html>',
        {},
        [],
        'null',
        { message: 'Forbidden' },
        { type: 'about:blank', title: 'Forbidden', status: httpStatus, detail: 'by a rule' },
        // Of web frameworks.
        { statusCode: httpStatus, error: 'Forbidden', message: 'Rate limit exceeded' },
        { success: false },
        { success: false, message: ' ' },
        { success: true, message: 'ok', data: record },
        { status: 'error', message: 'no' },
        { statusCode: 500, message: 'no', error: 'no', data: {} },
        { error: 'reference already exists' },
      ];
      for (const body of foreign) {
        const doubt = { name: 'UnknownOutcomeError', reason: 'http-status', httpStatus };
        expect([body, sent(httpStatus, body)]).toMatchObject([body, doubt]);
        expect(judged('createApiKey', answer(httpStatus, body))).toMatchObject(doubt);
        if (httpStatus === 401 || httpStatus === 429) continue;
        expect(read(httpStatus, body)).toMatchObject({ name: 'ServiceUnavailableError', httpStatus });
      }
    },
  );

  it('keeps the text of an answer in doubt for a person, redacted, by any author', () => {
    const redact = (text: string) => text.replaceAll('secret', '…');
    const text = (httpStatus: number, body: unknown) => (sent(httpStatus, body, { redact }) as { text?: string }).text;
    expect(text(403, { title: 'Forbidden', detail: 'rule secret' })).toBe('Forbidden: rule …');
    expect(text(403, { detail: 'by a rule' })).toBe('by a rule');
    expect(text(500, { success: false, message: 'Internal error' })).toBe('Internal error');
    expect(text(502, '<html>')).toBeUndefined();
    expect(text(403, {})).toBeUndefined();
  });

  it.each(Object.entries(OWN_ERROR_BODIES))(
    'finds a refusal in a body of the service of the form "%s", and a duplicate in every status when the body names one',
    (name, { example }) => {
      // The fourth repeats the status.
      const at = (httpStatus: number) => ('statusCode' in example ? { ...example, statusCode: httpStatus } : example);
      for (const httpStatus of [200, 201, 400, 403, 404, 422])
        expect(sent(httpStatus, at(httpStatus))).toMatchObject({ name: 'RejectedError', httpStatus });
      expect(sent(409, at(409))).toMatchObject({ name: 'DuplicateReferenceError' });
      for (const httpStatus of [302, 402, 408, 418, 451, 500, 503])
        expect(sent(httpStatus, at(httpStatus))).toMatchObject({ name: 'UnknownOutcomeError', httpStatus });
      for (const httpStatus of [200, 302, 400, 401, 403, 404, 408, 409, 422, 429, 500, 503]) {
        const duplicate = { ...at(httpStatus), message: 'Duplicate transaction' };
        expect(sent(httpStatus, duplicate)).toMatchObject({ name: 'DuplicateReferenceError', httpStatus });
      }
      expect(name in OWN_ERROR_BODIES).toBe(true);
    },
  );

  it('accepts the answer to a report, which has no data', () => {
    expect(judged('reportSettlement', answer(201, { success: true, message: 'ok' }))).toEqual({});
  });

  it('finds data of another shape unknown for money, and a broken contract for a read', () => {
    expect(sent(200, envelope({ id: {} }))).toMatchObject({ name: 'UnknownOutcomeError', reason: 'wrong-shape' });
    expect(read(200, envelope({ status: 'PENDING', referenceId: [] }))).toMatchObject({ name: 'ContractBrokenError' });
  });

  it('finds a record of another reference only by the member that the request was made with', () => {
    const ours = { reference: 'r-1' };
    expect(read(200, envelope({ ...record, referenceId: 'r-2' }), ours)).toMatchObject({
      name: 'ContractBrokenError',
      paths: [expect.stringMatching(/^referenceId: /)],
    });
    expect(sent(200, envelope({ ...record, referenceId: 'r-2' }), ours)).toMatchObject({
      name: 'UnknownOutcomeError',
      reason: 'other-reference',
    });
    for (const referenceId of ['r-1', ' r-1\n', '', ' ', undefined]) {
      const outcome = sent(200, envelope({ ...record, referenceId }), ours);
      expect(outcome).not.toMatchObject({ reason: 'other-reference' });
    }
    // A record that is looked up and names nothing may be of any; the answer to a POST is of that POST.
    expect(read(200, envelope({ ...record, referenceId: ' ' }), ours)).toMatchObject({ name: 'ContractBrokenError' });
    // Without a reference in the request there is nothing to compare.
    expect(read(200, envelope({ ...record, referenceId: 'r-2' }))).toMatchObject({ referenceId: 'r-2' });
    const mobileMoney = { status: 'SUCCESSFUL', reference_id: 'of-the-service', amount: '1' };
    expect(judged('getMobileMoneyDeposit', answer(200, envelope(mobileMoney)), ours)).toMatchObject(mobileMoney);
  });

  it('finds a duplicate by the status of a record for money, and only a status for a read', () => {
    const duplicate = envelope({ ...record, status: 'DUPLICATE_REFERENCE' });
    expect(sent(200, duplicate)).toMatchObject({ name: 'DuplicateReferenceError', httpStatus: 200 });
    expect(read(200, duplicate)).toMatchObject({ status: 'DUPLICATE_REFERENCE' });
    expect(sent(200, envelope({ ...record, status: 'NOT_DUPLICATE' }))).toMatchObject({ status: 'NOT_DUPLICATE' });
  });

  it('finds a read refused by a 2xx with success: false, whatever record is beside it', () => {
    const no = { success: false, message: 'no', data: record };
    expect(read(200, no)).toMatchObject({ name: 'RejectedError', message: 'no', isNotFound: false });
    expect(sent(200, no)).toMatchObject({ name: 'UnknownOutcomeError', reason: 'contradictory' });
    expect(sent(200, { success: false, error_code: 'E_1' })).toMatchObject({ name: 'RejectedError', code: 'E_1' });
  });

  it('finds a refusal to be about the reference only for operations that bind one', () => {
    const duplicate = { success: false, message: 'Transaction already exists' };
    expect(read(400, duplicate)).toMatchObject({ name: 'RejectedError', isAboutReference: false });
    expect(read(409, duplicate)).toMatchObject({ name: 'RejectedError', httpStatus: 409 });
    expect(judged('createApiKey', answer(409, duplicate))).toMatchObject({ name: 'DuplicateReferenceError' });
    expect(read(400, { success: false, message: 'bad reference' })).toMatchObject({ isAboutReference: false });
    expect(sent(400, { success: false, message: 'bad reference' })).toMatchObject({ isAboutReference: true });
  });
});

describe('a refusal of the service, as judge reads it,', () => {
  it.each([
    [{ message: 'a', error: 'b' }, 'a'],
    [{ message: ' ', error: ' b ', error_code: 'E1' }, 'b'],
    [{ message: undefined, error: 'b', error_code: 'E1' }, 'b'],
    [{ message: ['a', { not: 'text' }, 'b'] }, 'a; b'],
    [{ message: 7 }, '7'],
  ])('has the text of its message, or else of its error: %j', (members, message) => {
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

  it('has its code for a text when there is no message', () => {
    const silent = sent(400, { success: false, error_code: 'E1' });
    expect(silent).toMatchObject({ name: 'RejectedError', hasReason: true, code: 'E1' });
  });

  it('has a redacted text and a redacted code', () => {
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
    [{ message: undefined, error_code: 'EXPIRED_RATE' }, true],
    [{ message: 'the card has expired' }, false],
    [{ message: 'bad rate' }, false],
    [{ message: 'the corporate card expired' }, false],
  ])('is of an expired quote, or not, by its words: %j', (members, isRateExpired) => {
    expect(refusedWith(members)).toMatchObject({ isRateExpired });
  });

  it.each(['message', 'error', 'error_code', 'code', 'status', 'reason', 'detail'])(
    'is a duplicate in its member "%s", at its root or in its data',
    (member) => {
      const said = { [member]: 'already exists' };
      expect(refusedWith(said)).toMatchObject({ name: 'DuplicateReferenceError' });
      expect(refusedWith({ data: said })).toMatchObject({ name: 'DuplicateReferenceError' });
    },
  );

  it('is searched for a duplicate in texts within texts and in names of members, to a depth and a number', () => {
    const isDuplicate = (errors: unknown) => (refusedWith({ errors }) as Error).name === 'DuplicateReferenceError';
    const within = (depth: number): unknown => (depth === 0 ? 'already exists' : [within(depth - 1)]);
    expect([1, 4, 5, 6, 7].map((depth) => isDuplicate(within(depth)))).toEqual([true, true, true, false, false]);
    expect(isDuplicate({ alreadyExists: null })).toBe(true);
    expect(isDuplicate([null, 7, { a: { b: 'must be unique' } }])).toBe(true);
    expect(isDuplicate([7, null, true])).toBe(false);
  });

  it('is no duplicate by the words of the reference itself', () => {
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
    [{ status: 'error', message: 'gone', error_code: 'E' }, true],
    [{ statusCode: 404, message: 'gone', error: 'Not Found', data: {} }, true],
    [{ success: false, message: 'gone', detail: 'no route' }, false],
    [{ success: false, message: 'Cannot GET /api/v3/onramp' }, false],
    [{ success: false, message: 'Integrator not found' }, false],
    [{ success: false, message: 'No transaction of this customer was found' }, true],
  ])('is of a missing record in a 404 only by a body of the service about that: %j', (body, isNotFound) => {
    expect(read(404, body)).toMatchObject({ name: 'RejectedError', isNotFound });
    const at400 = 'statusCode' in body ? { ...body, statusCode: 400 } : body;
    expect(read(400, at400)).toMatchObject({ isNotFound: false });
  });

  it.each([
    { success: true, message: 'gone' },
    { status: 'error', message: 'gone' },
    { status: 'fail', message: 'gone', error_code: 'E' },
    { success: false },
    { message: 'no such invoice' },
    { detail: 'x', reason: 'unknown order' },
    { statusCode: 404, message: 'Deposit not found', error: 'Not Found' },
  ])('is not found in a 404 that the service did not write: %j', (body) => {
    expect(read(404, body)).toMatchObject({ name: 'ServiceUnavailableError', httpStatus: 404 });
  });
});

describe('the JSON of the service', () => {
  const json = (text: string) => readJson(bytes(text));

  it('holds numbers where JavaScript keeps every digit, and otherwise their text', () => {
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

  it('holds numbers that are longer than any amount as their text', () => {
    const long = `1${'0'.repeat(130)}.5`;
    expect(json(long)).toBe(long);
  });

  it('holds null and nested lists, and no __proto__', () => {
    expect(json('{"a":null,"b":[[{"__proto__":{"x":1},"c":1}]]}')).toEqual({ a: null, b: [[{ c: 1 }]] });
    const [inner] = (json('[[{"__proto__":{"x":1}}]]') as object[][])[0] ?? [];
    expect(Object.keys(inner ?? { not: 'there' })).toEqual([]);
    expect(Object.getPrototypeOf(inner)).not.toHaveProperty('x');
    expect(json('null')).toBeNull();
  });

  it('may have 32 levels, and no more', () => {
    expect(json(`${'['.repeat(32)}${']'.repeat(32)}`)).toEqual(expect.any(Array));
    expect(() => json(`${'['.repeat(33)}${']'.repeat(33)}`)).toThrow(UnreadableJsonError);
  });

  it('throws UnreadableJsonError without the text when it cannot be read', () => {
    expect(() => json('{"secret":01}')).toThrow(
      expect.objectContaining({ name: 'UnreadableJsonError', message: expect.not.stringContaining('secret') }),
    );
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { createServiceClient } from '../../src/service-client/index.js';
import { DUPLICATE_SUBJECTS, DUPLICATE_WORDS, saysOfReference } from '../../src/contract/duplicate-words.js';
import { bridgeDeposit, bridgeDepositAnswer, CANARIES } from './samples.js';
import { answerJson, serveHttp } from './scripted-server.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function deposit(status: number, body: unknown, duplicateWords: readonly string[] = [], reference = 'ref-1') {
  const server = await serveHttp((response) => answerJson(response, status, body));
  const client = createServiceClient({
    baseUrl: server.url,
    token: () => Promise.resolve(CANARIES.token),
    duplicateWords,
  });
  open.push(server, client);
  return client
    .createBridgeDeposit({ ...bridgeDeposit, provider_reference_id: reference })
    .catch((error: unknown) => error);
}

const refused = (message: string) => ({ success: false, message });

describe('a refusal calls the reference a duplicate', () => {
  it.each([
    'referenceId already exists',
    'provider_reference_id must be unique',
    'Transaction already exists',
    'This reference has already been used',
    'Reference has been taken',
    'The transaction was processed already: already processed',
    'reference_id is not unique',
    'providerReferenceId should be unique',
    'A deposit with this id exists already',
    'transaction was already made',
    'Transaction exists',
    'A withdrawal with this id exists',
    'Invoice has been paid',
    'Payment in progress',
    'Transaction is being processed',
    'DUPLICATE_TRANSACTION',
    'duplicated reference',
    'E11000 dup key error collection',
    'duplicate key value violates unique constraint "transactions_reference_key"',
  ])('by saying "%s", whatever the status', async (message) => {
    for (const status of [200, 400, 403, 404, 422]) {
      expect(await deposit(status, refused(message))).toMatchObject({
        name: 'DuplicateReferenceError',
        httpStatus: status,
      });
    }
  });

  it.each<[string, unknown]>([
    ['error', { statusCode: 400, message: 'Bad Request', error: 'Transaction already exists', data: {} }],
    ['error_code', { status: 'error', message: 'Bad Request', error_code: 'REFERENCE_ALREADY_USED' }],
    ['code', { success: false, message: 'no', code: 'alreadyExists' }],
    ['data.errors, as sentences', { success: false, message: 'no', data: { errors: ['referenceId must be unique'] } }],
    [
      'data.errors, as objects',
      { success: false, message: 'no', data: { errors: [{ path: 'referenceId', message: 'has already been taken' }] } },
    ],
    ['data.errors, by member', { success: false, message: 'no', data: { errors: { reference: ['must be unique'] } } }],
    ['errors', { success: false, message: ['no'], errors: [{ constraints: { isUnique: 'must be unique' } }] }],
    ['data.status', { success: false, message: 'no', data: { status: 'DUPLICATE' } }],
  ])('in %s', async (_, body) => {
    expect(await deposit(400, body)).toMatchObject({ name: 'DuplicateReferenceError' });
  });

  it('by a word of DUPLICATE_WORDS', async () => {
    const body = refused('Ya existe esa referencia');
    expect(await deposit(400, body)).toMatchObject({ name: 'RejectedError', isAboutReference: false });
    expect(await deposit(400, body, ['ya existe'])).toMatchObject({ name: 'DuplicateReferenceError' });
  });
});

describe('a refusal is about the reference', () => {
  it.each<[string, unknown]>([
    ['in its text', refused('Invalid reference')],
    ['as a member', refused('referenceId: bad value')],
    ['in data.errors', { success: false, message: 'no', data: { errors: [{ field: 'provider_reference_id' }] } }],
  ])('when it names it %s', async (_, body) => {
    expect(await deposit(400, body)).toMatchObject({ name: 'RejectedError', isAboutReference: true });
  });

  it.each([
    'Insufficient Funds',
    'Transaction failed',
    'Rate Expired',
    'Validation failed: amount too small',
    'Wallet does not exist',
    'Invalid phone number',
  ])('not when it says "%s"', async (message) => {
    expect(await deposit(400, refused(message))).toMatchObject({ name: 'RejectedError', isAboutReference: false });
  });

  it('not because it repeats a reference that holds such words', async () => {
    const reference = 'duplicate-reference-already-used';
    expect(await deposit(400, refused(`${reference}: Insufficient Funds`), [], reference)).toMatchObject({
      name: 'RejectedError',
      isAboutReference: false,
    });
  });
});

it.each(['t', 'e', 'transaction'])('a refusal of the reference %j still says "duplicate"', async (reference) => {
  expect(await deposit(400, refused('Duplicate transaction'), [], reference)).toMatchObject({
    name: 'DuplicateReferenceError',
  });
});

describe('the words for a duplicate', () => {
  const spellings = fc.constantFrom(
    (words: string) => words,
    (words: string) => words.toUpperCase(),
    (words: string) => words.replaceAll(' ', '_'),
    (words: string) => words.replaceAll(' ', '-'),
    (words: string) => words.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase()),
  );

  it('count in every spelling, alone or in a sentence', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...DUPLICATE_WORDS),
        spellings,
        fc.constantFrom('', 'the ', '(x) '),
        (words, spell, before) => {
          expect(saysOfReference([`${before}${spell(words)}.`])).toBe('duplicate');
        },
      ),
    );
    for (const subject of DUPLICATE_SUBJECTS)
      expect(saysOfReference([`${subject} is already there`])).toBe('duplicate');
  });

  it('change nothing of a 409, which is a duplicate, nor of a success, which is none', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('no', 'Created', ...DUPLICATE_WORDS), async (message) => {
        expect(await deposit(409, refused(message))).toMatchObject({ name: 'DuplicateReferenceError' });
        expect(await deposit(200, { ...bridgeDepositAnswer, message })).toMatchObject(bridgeDepositAnswer.data);
      }),
      { numRuns: 20 },
    );
  });
});

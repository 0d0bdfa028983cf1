import { describe, expect, it } from '@jest/globals';
import type { QuoteTerms } from '../../../src/store/quote.js';
import { bridgeBody, callerOf, PATHS, QUOTE_BODY, type Caller } from './caller.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { newReference } from '../../harness/references.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

describe('a quote that passed through the proxy', () => {
  let stack: Stack;
  let caller: Caller;
  withStack({ env: { TIME_SCALE: '0.02' }, sandbox: { stepMs: 20 } }, (opened) => {
    stack = opened;
    caller = callerOf(stack.url, SERVICE_TOKEN);
  });

  /** As the proxy remembers it, 70 seconds ago. */
  const old = async (terms: Partial<QuoteTerms>): Promise<string> => {
    const rateId = newReference('rate');
    const quote: QuoteTerms = {
      rateId,
      lifeMs: 60_000,
      cryptoAmount: '0.000001',
      cryptoUnit: 'CUSD',
      sourceAmount: '1000.5',
      sourceCurrency: 'KES',
      chain: 'CELO',
      token: 'CUSD',
      ...terms,
    };
    await stack.store.quotes.remember('default', quote, 70_000);
    return rateId;
  };
  const quotesNoted = async (reference: string): Promise<number> => {
    const { timeline } = (await stack.get(`/flows/bridge-transfer/${reference}`)).body;
    return timeline.filter(({ code }: { code: string }) => code === 'quoted').length;
  };

  it('is used by the deposit with its rate_id, which is one transfer', async () => {
    const reference = newReference('quoted');
    const { data } = (await caller.post(PATHS.quote, QUOTE_BODY)).body;
    expect(await stack.store.quotes.recall('default', data.rate_id)).toMatchObject({
      rateId: data.rate_id,
      cryptoAmount: String(data.crypto_amount),
      sourceAmount: '1000.5',
      sourceCurrency: 'KES',
    });
    expect((await caller.post(PATHS.bridge, bridgeBody(reference, { rate_id: data.rate_id }))).status).toBe(200);
    expect(await quotesNoted(reference)).toBe(1);
    // A retry with a new quote is the same request.
    const again = (await caller.post(PATHS.quote, QUOTE_BODY)).body['data'];
    expect((await caller.post(PATHS.bridge, bridgeBody(reference, { rate_id: again.rate_id }))).status).toBe(200);
  });

  it('is never sent once it is too old: a new one that is as good takes its place', async () => {
    const reference = newReference('old');
    const answer = await caller.post(PATHS.bridge, bridgeBody(reference, { rate_id: await old({}) }));
    expect(answer).toMatchObject({ status: 200, body: { data: { provider_reference_id: reference } } });
    expect(await quotesNoted(reference)).toBe(2);
  });

  it.each([
    ['a worse one does not', { cryptoAmount: '999999' }],
    ['figures of another deposit say nothing', { sourceAmount: '7' }],
  ])('is never sent once it is too old: %s, and nothing moves', async (_, terms) => {
    const reference = newReference('worse');
    const body = bridgeBody(reference, { rate_id: await old(terms) });
    const refused = {
      status: 400,
      body: { success: false, towline: { reference, code: 'quote_rejected' } },
    };
    expect(await caller.post(PATHS.bridge, body)).toMatchObject(refused);
    expect(await caller.post(PATHS.bridge, body)).toMatchObject(refused);
    const found = await stack.control('GET', `/executions?operation=createBridgeDeposit&reference=${reference}`);
    expect(found['count']).toBe(0);
  });

  it('that breaks the interface, or that the service refuses, is refused', async () => {
    const wrong = await caller.post(PATHS.quote, { ...QUOTE_BODY, source_amount: -1 });
    expect(wrong).toMatchObject({ status: 400, body: { data: { errors: [{ path: 'source_amount' }] } } });
    await stack.control('POST', '/faults', {
      operation: 'quoteBridge',
      kind: 'rate-limited',
      retryAfterSeconds: 7,
      first: 1,
    });
    const limited = await caller.post(PATHS.quote, QUOTE_BODY);
    expect({ status: limited.status, hint: limited.headers.get('retry-after') }).toEqual({ status: 429, hint: '7' });
  });
});

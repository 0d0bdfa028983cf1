import type { FastifyReply } from 'fastify';
import type { BridgeQuote, BridgeQuoteRequest } from '../../contract/bridge.js';
import { quoteLifeMs } from '../../flows/quote-life.js';
import { fromWireNumber } from '../../money.js';
import type { ProxyDeps } from './deps.js';
import { passOn, relay } from './pass-through.js';

/**
 * A quote passes through, and is remembered before its caller sees it: the deposit with its `rate_id` is then sent inside
 * of what is left of its life, or quoted again. Where it cannot be remembered there is none: quotes cost nothing.
 */
export async function quoteThrough(deps: ProxyDeps, body: unknown, reply: FastifyReply): Promise<FastifyReply> {
  const startedMs = deps.monotonicMs();
  const answer = await relay(deps, 'quoteBridge', body);
  const quote = answer.data as BridgeQuote;
  const asked = body as BridgeQuoteRequest;
  const terms = {
    rateId: quote.rate_id,
    lifeMs: quoteLifeMs(quote),
    cryptoAmount: quote.crypto_amount ?? null,
    cryptoUnit: quote.crypto_unit ?? null,
    sourceAmount: fromWireNumber(asked.source_amount),
    sourceCurrency: asked.source_currency,
    chain: asked.crypto_chain,
    token: asked.crypto_token,
  };
  await deps.store.quotes.remember(deps.settings.serviceAccount, terms, deps.monotonicMs() - startedMs);
  return passOn(reply, answer);
}

import type { FastifyReply } from 'fastify';
import type { BridgeQuote, BridgeQuoteRequest } from '../../contract/bridge.js';
import { quoteLifeMs, quoteUnit } from '../../flows/bridge-transfer.js';
import { readAmount } from '../../readers/amount.js';
import type { Caller } from '../http/bearer-token.js';
import { Refusal } from '../http/refusal.js';
import type { ProxyDeps } from './deps.js';
import { passOn } from './read-through.js';

/**
 * A quote passes through, and is stored before its caller sees it: the deposit with its `rate_id` is then sent within
 * its remaining life, or quoted again. If it cannot be stored, the caller gets none: quotes cost nothing.
 */
export async function quoteThrough(
  deps: ProxyDeps,
  caller: Pick<Caller, 'name'>,
  body: unknown,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const asked = body as BridgeQuoteRequest;
  // No quote is requested if it could not be stored.
  const sourceAmount = amountOf(asked);
  const startedMs = deps.monotonicMs();
  const answer = await deps.reads.quote(caller, body);
  // No quote, or an unreadable one: its caller may be able to read it. Its deposit is made without figures.
  if (answer.data === undefined) return passOn(reply, answer);
  const quote = answer.data as BridgeQuote;
  const terms = {
    rateId: quote.rate_id,
    lifeMs: quoteLifeMs(quote),
    cryptoAmount: quote.crypto_amount ?? null,
    cryptoUnit: quoteUnit(quote),
    sourceAmount,
    sourceCurrency: asked.source_currency,
    chain: asked.crypto_chain,
    token: asked.crypto_token,
  };
  await deps.store.quotes.remember(deps.settings.serviceAccount, terms, deps.monotonicMs() - startedMs);
  return passOn(reply, answer);
}

function amountOf({ source_amount }: BridgeQuoteRequest): string {
  const amount = readAmount(source_amount);
  if (amount === undefined) throw new Refusal(400, 'source_amount: not a decimal number of a sane length');
  return amount;
}

import { unauthorized } from '../validate.js';
import type { Committed, Exchange } from '../exchange.js';
import { Refusal } from '../refusal.js';
import type { Answer } from '../ledger.js';
import { pick } from '../random.js';
import { type Hit, type FaultRule, GARBAGE_VARIANTS, type GarbageVariant } from './fault-rules.js';
import type { FaultKind } from './fault-log.js';

/** The tools of a fault beyond those that every request has. */
export interface FaultTools {
  /** Commits the request and logs the fault in one transaction. */
  commit(exchange: Exchange, hit: Hit, detail?: string): Promise<Committed>;
  /** Logs a fault that kept its request from being executed. */
  logOnly(exchange: Exchange, hit: Hit, detail?: string): Promise<void>;
  /** Logs the fault, and has the request executed `delayMs` later by the sandbox's clock. */
  commitLater(exchange: Exchange, hit: Hit, delayMs: number): Promise<void>;
  sleep(ms: number): Promise<void>;
}

type Inject = (exchange: Exchange, hit: Hit, tools: FaultTools) => Promise<void>;

const serverError = (status = 500) => new Refusal(status, 'INTERNAL_ERROR', 'Internal server error');

const errorBefore: Inject = async (exchange, hit, tools) => {
  await tools.logOnly(exchange, hit);
  exchange.answer(serverError(hit.rule.status));
};

function rateLimited({ hint = 'header', retryAfterSeconds: seconds = 1 }: FaultRule): Refusal {
  const details = {
    header: { headers: { 'retry-after': String(seconds) } },
    'data.retryAfter': { data: { retryAfter: seconds } },
    retry_after: { members: { retry_after: seconds } },
  }[hint];
  return new Refusal(429, 'RATE_LIMITED', 'Too many requests', details);
}

async function executedOrNot(exchange: Exchange, hit: Hit, tools: FaultTools, byDefault: boolean): Promise<void> {
  if (hit.rule.commit ?? byDefault) await tools.commit(exchange, hit);
  else await tools.logOnly(exchange, hit);
}

const DEFAULT_DELAY_MS = 1_000;

/** What each kind of fault does to a request, and when: before its commit, after it, or instead of its answer. */
export const INJECT: Readonly<Record<FaultKind, Inject>> = {
  'fail-first': errorBefore,
  'error-before': errorBefore,
  async 'rate-limited'(exchange, hit, tools) {
    await tools.logOnly(exchange, hit);
    exchange.answer(rateLimited(hit.rule));
  },
  async unauthorized(exchange, hit, tools) {
    await tools.logOnly(exchange, hit);
    exchange.answer(unauthorized());
  },
  async 'reset-before'(exchange, hit, tools) {
    await tools.logOnly(exchange, hit);
    exchange.destroy();
  },
  async 'error-after'(exchange, hit, tools) {
    await tools.commit(exchange, hit);
    exchange.answer(serverError(hit.rule.status));
  },
  async 'answer-lost'(exchange, hit, tools) {
    await tools.commit(exchange, hit);
    exchange.destroy();
  },
  async garbage(exchange, hit, tools) {
    const { outcome } = await tools.commit(exchange, hit, garbageOf(hit));
    answerGarbage(exchange, outcome, hit);
  },
  async 'duplicate-answer'(exchange, hit, tools) {
    await executedOrNot(exchange, hit, tools, true);
    exchange.answer(new Refusal(hit.rule.status ?? 409, 'DUPLICATE_REFERENCE', 'Duplicate reference'));
  },
  async refused(exchange, hit, tools) {
    await executedOrNot(exchange, hit, tools, false);
    exchange.answer(new Refusal(hit.rule.status ?? 400, 'TRANSACTION_FAILED', 'Transaction failed'));
  },
  /** Of something on the way, and not of the service. */
  async page(exchange, hit, tools) {
    await executedOrNot(exchange, hit, tools, true);
    exchange.answerRaw(hit.rule.status ?? 403, 'text/html', '<!doctype html><title>Access denied</title>');
  },
  async slow(exchange, hit, tools) {
    const { outcome } = await tools.commit(exchange, hit);
    await tools.sleep(hit.rule.delayMs ?? DEFAULT_DELAY_MS);
    exchange.answer(outcome);
  },
  async 'late-commit'(exchange, hit, tools) {
    await tools.commitLater(exchange, hit, hit.rule.delayMs ?? DEFAULT_DELAY_MS);
    if (hit.rule.connection === 'hang') exchange.hang();
    else exchange.destroy();
  },
};

const JSON_TYPE = 'application/json; charset=utf-8';

/** A 2xx that cannot be read; the seed chooses which, unless the rule does. Returns which it was, for the log. */
const garbageOf = ({ rule, chance }: Hit): GarbageVariant | 'given' =>
  rule.body === undefined ? (rule.variant ?? pick(GARBAGE_VARIANTS, chance)) : 'given';

function answerGarbage(exchange: Exchange, outcome: Answer | Refusal, hit: Hit): void {
  const honest = JSON.stringify(exchange.bodyOf(outcome));
  const variant = garbageOf(hit);
  switch (variant) {
    case 'html':
      exchange.answerRaw(200, 'text/html', '<!doctype html><title>Bad gateway</title><h1>502</h1>');
      return;
    case 'truncated':
      exchange.answerRaw(200, JSON_TYPE, honest.slice(0, Math.floor(honest.length / 2)));
      return;
    case 'wrong-shape':
      exchange.answerRaw(200, JSON_TYPE, '{"success":true,"message":"ok","data":{"items":[1,2,3],"status":7}}');
      return;
    case 'no-reason':
      exchange.answerRaw(200, JSON_TYPE, '{"success":false}');
      return;
    case 'empty':
      exchange.answerRaw(200, JSON_TYPE, '');
      return;
    case 'not-an-object':
      exchange.answerRaw(200, JSON_TYPE, pick(['null', 'true', '[]', '"ok"', '0'], (hit.chance * 10) % 1));
      return;
    case 'given':
      exchange.answerRaw(200, JSON_TYPE, hit.rule.body ?? '');
      return;
    default:
      variant satisfies never;
  }
}

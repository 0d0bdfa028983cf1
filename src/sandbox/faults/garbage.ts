import type { Exchange } from '../exchange.js';
import type { Answer } from '../ledger/executions.js';
import { pick } from '../random.js';
import type { Refusal } from '../refusal.js';
import type { Hit } from './fault-rules.js';
import { GARBAGE_VARIANTS, type GarbageVariant } from './rule.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** A 2xx that cannot be read; the seed chooses which, unless the rule says so. Gives what it was, for the log. */
export const garbageOf = ({ rule, chance }: Hit): GarbageVariant | 'given' =>
  rule.body === undefined ? (rule.variant ?? pick(GARBAGE_VARIANTS, chance)) : 'given';

export function answerGarbage(exchange: Exchange, outcome: Answer | Refusal, hit: Hit): void {
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

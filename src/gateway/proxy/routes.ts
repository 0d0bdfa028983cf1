import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { operations, operationNames, type MoneyOperationName, type OperationName } from '../../contract/index.js';
import type { Effect, Operation } from '../../contract/operation.js';
import type { TokenRole } from '../../config/gateway-tokens.js';
import { withCardTaken } from '../cards/take-card.js';
import type { Caller } from '../http/bearer-token.js';
import { bodyOf } from '../http/json-body.js';
import { parseBody } from '../http/members.js';
import { authenticate } from './authenticate.js';
import type { ProxyDeps } from './deps.js';
import type { ReadName } from './flow-reads.js';
import { checkedBody, moneyRequest } from './money-request.js';
import { passOn, relay } from './pass-through.js';
import { payInvoice } from './pay-invoice.js';
import { quoteThrough } from './quotes.js';
import { readThrough } from './read-through.js';
import { sendMoney } from './send-money.js';

/** Account operations make accounts, keys and secrets. */
const ROLES: Readonly<Record<Effect, TokenRole>> = {
  read: 'flows',
  quote: 'flows',
  money: 'flows',
  report: 'flows',
  account: 'admin',
};

type Handle = (request: FastifyRequest, reply: FastifyReply, caller: Caller) => Promise<FastifyReply>;

/**
 * The service's own interface: every operation of the contract at its own path, with its own envelope. Only the report of
 * a settlement is a door of its own (`inbound`): the settlement provider posts to it, without a token.
 */
export function addProxyRoutes(server: FastifyInstance, deps: ProxyDeps): void {
  for (const name of operationNames) {
    const operation: Operation = operations[name];
    if (operation.effect === 'report') continue;
    const handle = handlerOf(deps, name, operation);
    const callers = new WeakMap<FastifyRequest, Caller>();
    server.route({
      method: operation.method,
      // A HEAD would make an API key, too.
      exposeHeadRoute: false,
      url: operation.path.replace(/\{(\w+)\}/, ':$1'),
      // Before its body is read.
      onRequest: async (request) => {
        callers.set(request, await authenticate(deps, request, ROLES[operation.effect]));
      },
      handler: (request, reply) => handle(request, reply, callers.get(request) as Caller),
    });
  }
}

function handlerOf(deps: ProxyDeps, name: OperationName, operation: Operation): Handle {
  const { effect, body: schema, param } = operation;
  switch (effect) {
    case 'money':
      return (request, reply, caller) => money(deps, name as MoneyOperationName, { request, reply, caller });
    case 'quote':
      return (request, reply) => quoteThrough(deps, parseBody(schema as never, bodyOf(request).value), reply);
    case 'read':
      return (request, reply) => readThrough(deps, name as ReadName, paramOf(request, param), reply);
    case 'account':
    case 'report':
      // Once: who repeats it makes another key, or another account.
      return async (request, reply) =>
        passOn(reply, await relay(deps, name, schema === undefined ? undefined : bodyOf(request).value));
    default:
      return effect satisfies never;
  }
}

async function money(
  deps: ProxyDeps,
  name: MoneyOperationName,
  { request, reply, caller }: { request: FastifyRequest; reply: FastifyReply; caller: Caller },
): Promise<FastifyReply> {
  const body = checkedBody(deps, name, bodyOf(request).value);
  if (name === 'payInvoice') await payInvoice(deps, moneyRequest(deps, name, body), reply, caller.name);
  else if (name === 'createCardDeposit') {
    // The card leaves the body before anything that starts flows sees it.
    await withCardTaken(deps.cards, body, (taken) =>
      sendMoney(deps, moneyRequest(deps, name, taken as Record<string, unknown>), reply),
    );
  } else await sendMoney(deps, moneyRequest(deps, name, body), reply);
  return reply;
}

function paramOf(request: FastifyRequest, param: string | undefined): string {
  return String((request.params as Record<string, unknown>)[param ?? '']);
}

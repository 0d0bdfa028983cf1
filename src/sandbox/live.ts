import type { FastifyInstance } from 'fastify';
import { SESSION_LIFE_MS, type Tokens } from './account/tokens.js';
import { unauthorized } from './validate.js';
import { bridgeData } from './bridge/details.js';
import type { Deposits } from './bridge/deposits.js';
import type { Clock } from './clock.js';
import { CARD_DEPOSIT } from './deposit/methods.js';
import { OFFRAMP } from './offramp.js';
import { ONRAMP } from './onramp.js';
import { badMembers, unknownReference, Refusal } from './refusal.js';
import type { Transaction } from './transactions/transactions.js';
import { WITHDRAWAL } from './withdrawal.js';
import type { Answer } from './ledger.js';
import type { Answers } from './answers.js';
import type { Database } from './database.js';
import type { LiveSettings } from './settings.js';
import type { TransactionTools } from './transactions/tools.js';
import type { Kind } from './transactions/kind.js';

/** Examples; the live service has more. */
const BANKS = [
  { bankName: 'ABSA', bankCode: '632005' },
  { bankName: 'First National Bank', bankCode: '250655' },
  { bankName: 'Standard Bank', bankCode: '051001' },
];

/** The missing status lookups, and other operations that flows may use if the setting `liveOperations` allows it. */
export function createLiveOperations(
  deps: Pick<TransactionTools, 'transactions' | 'carrier' | 'wordFor'> & {
    deposits: Deposits;
    tokens: Tokens;
    clock: Clock;
    createId: () => string;
  },
): readonly LiveOperation[] {
  const { transactions, carrier, wordFor, deposits, tokens, clock, createId } = deps;

  const lookup = (kind: Kind, path: LiveOperation['path']): LiveOperation => ({
    method: 'GET',
    path,
    handle({ reference }) {
      const [found] = transactions.ofReference(reference, kind.operation) as readonly Transaction<never>[];
      if (found === undefined) return unknownReference(kind.title, reference);
      return { message: `${kind.title} found`, data: kind.data(found, wordFor(kind, found), found.updatedAt) };
    },
  });

  return [
    lookup(ONRAMP, '/api/v3/onramp/{reference}'),
    lookup(WITHDRAWAL, '/api/v3/withdraw/status/{reference}'),
    lookup(CARD_DEPOSIT, '/api/v3/deposit/card/{reference}'),
    {
      method: 'GET',
      path: '/api/v3/deposit/crypto-bridge/status/{reference}',
      handle({ reference }) {
        const [deposit] = [...deposits.ofReference(reference), deposits.get(reference)];
        if (deposit === undefined) return unknownReference('Bridge deposit', reference);
        return { message: 'Bridge deposit found', data: bridgeData(deposit, deposit.status, clock) };
      },
    },
    {
      method: 'GET',
      path: '/api/v3/withdraw/v2/bank/supporting-banks/{reference}',
      handle: ({ reference: currency }) => ({
        message: 'Supporting banks',
        data: { currency, banks: currency === 'ZAR' ? BANKS : [] },
      }),
    },
    {
      method: 'POST',
      path: '/api/v3/offramp/submit-refund-invoice/{reference}',
      handle({ reference }) {
        const [offramp] = transactions.ofReference(reference, OFFRAMP.operation);
        if (offramp === undefined) return unknownReference('Offramp', reference);
        if (carrier.apply(offramp.id, { kind: 'invoice' }) === undefined) {
          return badMembers([{ path: 'reference', message: 'waits for no invoice' }]);
        }
        return { message: 'Refund invoice received', data: { referenceId: reference } };
      },
    },
    {
      method: 'GET',
      path: '/api/v3/auth/refresh-token',
      auth: 'refresh',
      handle({ token: given }) {
        if (!tokens.isValid('refresh', given)) return unauthorized();
        const token = `session-${createId()}`;
        tokens.keep('session', token, SESSION_LIFE_MS);
        return { message: 'Token refreshed', data: { token, refresh_token: given } };
      },
    },
  ];
}

/** An operation that the interface lacks and the live service has. */
interface LiveOperation {
  readonly method: 'GET' | 'POST';
  readonly path: `/api/v3/${string}/{reference}` | '/api/v3/auth/refresh-token';
  /** `refresh`: the bearer token is a refresh token, which the operation checks by itself. @default 'bearer' */
  readonly auth?: 'refresh';
  /** Inside `database.write`. */
  handle(call: { readonly reference: string; readonly token: string }): Answer | Refusal;
}

/** Serves them while the setting `liveOperations` is on; off, they do not exist. Faults do not reach them. */
export function addLiveRoutes(
  server: FastifyInstance,
  deps: {
    operations: readonly LiveOperation[];
    authenticate: (authorization: string | undefined) => void;
    database: Database;
    settings: LiveSettings;
    answers: Answers;
  },
): void {
  const { operations, authenticate, database, settings, answers } = deps;
  for (const operation of operations) {
    server.route({
      method: operation.method,
      url: operation.path.replace('{reference}', ':reference'),
      async handler(request) {
        const { authorization } = request.headers;
        if (!settings.current().liveOperations) throw new Refusal(404, 'NOT_FOUND', `${request.url} does not exist`);
        if (operation.auth === undefined) authenticate(authorization);
        const { reference = '' } = request.params as { reference?: string };
        const token = (authorization ?? '').replace(/^Bearer /, '');
        const outcome = await database.write(() => operation.handle({ reference, token }));
        if (outcome instanceof Refusal) throw outcome;
        return answers.bodyOf(outcome);
      },
    });
  }
}

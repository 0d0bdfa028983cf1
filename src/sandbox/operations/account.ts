import type { Integrator } from '../account/integrator.js';
import { Refusal, unknownReference } from '../refusal.js';
import { type Tokens, SESSION_LIFE_MS } from '../account/tokens.js';
import { KYC, KYC_IDS, kycRecord, UNKNOWN_KYC_WORD } from '../account/kyc.js';
import type { Scenarios } from '../scenarios.js';
import type { Carrier } from '../transactions/carrier.js';
import type { Transaction, Transactions } from '../transactions/transactions.js';
import type { Handler } from './handler.js';
import type { StatusWord } from '../transactions/tools.js';

const exists = () => new Refusal(409, 'INTEGRATOR_EXISTS', 'An integrator with this email exists already');

export function createCreateIntegrator(deps: { integrator: Integrator }): Handler<'createIntegrator'> {
  const { integrator } = deps;
  return ({ body }) => {
    if (integrator.email() === body.email) return exists();
    integrator.create(body);
    return { message: 'Integrator created', data: integrator.shown() };
  };
}

/** Each call makes a new key; those before stay valid. */
export function createCreateApiKey(deps: { tokens: Tokens; createId: () => string }): Handler<'createApiKey'> {
  const { tokens, createId } = deps;
  return () => {
    const key = `key-${createId()}`;
    tokens.keep('api-key', key);
    return { message: 'API key created', data: { key } };
  };
}

export function createUpdateWebhook(deps: { integrator: Integrator }): Handler<'updateWebhook'> {
  const { integrator } = deps;
  return ({ body }) => {
    integrator.updateWebhook(body);
    return { message: 'Webhook updated', data: integrator.shown() };
  };
}

/** The first read of an id begins its lifecycle; no operation of the interface makes a KYC record. */
export function createGetKycStatus(deps: {
  transactions: Transactions;
  carrier: Carrier;
  scenarios: Scenarios;
  wordFor: StatusWord;
  createId: () => string;
}): Handler<'getKycStatus'> {
  const { transactions, carrier, scenarios, wordFor, createId } = deps;

  function begin(kycId: string): Transaction {
    const ending = endingOf(kycId);
    const id = `${KYC.idPrefix}-${createId()}`;
    const { operation, lifecycle } = KYC;
    const record = { id, operation, reference: kycId, status: lifecycle.initial, ending, body: { kycId }, figures: {} };
    carrier.begin(transactions.add({ ...record, executionId: 0 }));
    if (ending.startsWith('kyc-already')) carrier.apply(id, { kind: 'time', from: lifecycle.initial });
    return transactions.get(id) as Transaction;
  }

  function endingOf(kycId: string): string {
    const scenario = scenarios.get(kycId, KYC.operation)?.ending;
    if (scenario !== undefined && Object.hasOwn(KYC.lifecycle.endings, scenario)) return scenario;
    return KYC_IDS.find(([word]) => kycId.includes(word))?.[1] ?? 'completed';
  }

  return ({ param }) => {
    const [known] = transactions.ofReference(param, KYC.operation);
    if (known === undefined && param.includes(UNKNOWN_KYC_WORD)) return unknownReference('KYC record', param);
    const record = known ?? begin(param);
    return { message: 'KYC record found', data: kycRecord(record, wordFor(KYC, record)) };
  };
}

const refused = (why: string) => new Refusal(400, 'INVALID_VERIFICATION_TOKEN', `The verification token ${why}`);

/** Any token is right, once; one that begins with `invalid` or `expired` is that. */
export function createVerifyHuman(deps: { tokens: Tokens; createId: () => string }): Handler<'verifyHuman'> {
  const { tokens, createId } = deps;
  return ({ body: { verificationToken } }) => {
    const [, flaw] = /^(invalid|expired)/.exec(verificationToken) ?? [];
    if (flaw !== undefined) return refused(flaw === 'expired' ? 'has expired' : 'is not valid');
    if (tokens.isValid('verification', verificationToken)) return refused('was used before');
    tokens.keep('verification', verificationToken);
    const session = { token: `session-${createId()}`, refresh_token: `refresh-${createId()}` };
    tokens.keep('session', session.token, SESSION_LIFE_MS);
    tokens.keep('refresh', session.refresh_token);
    const ids = { user_id: `USR-${createId()}`, session_id: `SES-${createId()}`, token_id: `TOK-${createId()}` };
    return { message: 'Human verification complete', data: { ...ids, ...session } };
  };
}

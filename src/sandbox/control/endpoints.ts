import { z } from 'zod';
import type { BridgeStatus } from '../../contract/vocabulary.js';
import { Mischief } from '../deliveries/adversary.js';
import { DELIVERY_JOB } from '../deliveries/deliveries.js';
import type { DeliverOrder } from '../deliveries/deliver.js';
import { STREAMS } from '../deliveries/message.js';
import { MOBILE_MONEY, MobileMoneyRequest } from '../deposit/methods.js';
import { FaultRule } from '../faults/fault-rules.js';
import { ALL_ENDINGS, CATALOGUE, kindOf } from '../kinds.js';
import { OFFRAMP } from '../offramp.js';
import { ON_CHAIN_DEPOSIT, OnChainDepositRequest } from '../onramp.js';
import { settlementBody } from '../provider.js';
import { badMembers, Refusal, unknownReference } from '../refusal.js';
import { TABLES } from '../schema.js';
import { Settings, shownSettings } from '../settings.js';
import type { Kind } from '../transactions/kind.js';
import type { Input } from '../transactions/lifecycle.js';
import type { Transaction } from '../transactions/transactions.js';
import { type Controlled, type Endpoint, endpoint } from './endpoint.js';

const ByOperation = z.strictObject({ operation: z.string().optional(), reference: z.string().optional() });

/** Everything that a test, a demo or a reconciler may ask of the sandbox besides the service's own operations. */
export const ENDPOINTS: readonly Endpoint[] = [
  // The service's state.
  endpoint({
    method: 'GET',
    path: '/state',
    summary: 'Counts of what there is, the clock and the settings',
    handle: ({ clock, settings, deposits, transactions, executions, deliveries, scheduler }) => ({
      clock: timeOf(clock),
      settings: shownSettings(settings.current()),
      deposits: deposits.countByStatus(),
      transactions: transactions.count(),
      executions: executions.list({}).length,
      deliveries: deliveries.countByState(),
      waitingJobs: scheduler.waiting(),
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/deposits/{reference}',
    summary: 'The bridge deposits of one reference, newest first, each with every status that it had',
    handle({ deposits, history }, _input, { reference = '' }) {
      const found = deposits.ofReference(reference);
      if (found.length === 0) throw unknownReference('Bridge deposit', reference);
      return {
        reference,
        count: found.length,
        deposits: found.map(({ id, ...deposit }) => ({
          kotani_reference_id: id,
          ...deposit,
          history: history.of(id),
        })),
      };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/executions',
    summary: 'How often an operation was executed for a reference: ?operation=&reference=',
    input: ByOperation,
    handle({ executions }, input) {
      const found = executions.list(input);
      return { count: found.length, executions: found };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/ledger',
    summary: 'Entries with their postings, and the balance of every account: ?reference=',
    input: z.strictObject({ reference: z.string().optional() }),
    handle: ({ ledger }, { reference }) => ({ entries: ledger.entries(reference), balances: ledger.balances() }),
  }),

  // Transactions by reference: read them, move them by hand, and do what the interface has no operation for.
  endpoint({
    method: 'GET',
    path: '/transactions/{reference}',
    summary: 'What was made with one reference, newest first, each with every status that it had: ?operation=',
    input: z.strictObject({ operation: z.string().optional() }),
    handle(sandbox, { operation }, { reference = '' }) {
      newest(sandbox, reference, operation);
      const found = sandbox.transactions.ofReference(reference, operation);
      return { reference, count: found.length, transactions: found.map((one) => shown(sandbox, one)) };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/transactions/{reference}/move',
    summary: 'Moves it by hand, as far as its lifecycle allows: {status, operation?}',
    input: z.strictObject({ status: z.string().min(1), operation: z.string().optional() }),
    handle: (sandbox, { status, operation }, { reference = '' }) =>
      apply(sandbox, reference, operation, { kind: 'control', status }),
  }),
  endpoint({
    method: 'POST',
    path: '/transactions/{reference}/refund-invoice',
    summary: 'Gives an offramp that asked for it the invoice of its refund: {invoice}',
    input: z.strictObject({ invoice: z.string().min(1) }),
    handle: (sandbox, _input, { reference = '' }) => apply(sandbox, reference, OFFRAMP.operation, { kind: 'invoice' }),
  }),
  endpoint({
    method: 'POST',
    path: '/mobile-money-deposits',
    summary:
      'Creates one as another client of the service would: {referenceId, amount, currency, phoneNumber, callbackUrl?, …}',
    input: MobileMoneyRequest,
    handle: (sandbox, body) => begin(sandbox, MOBILE_MONEY, body),
  }),
  endpoint({
    method: 'POST',
    path: '/on-chain-deposits',
    summary: 'Creates one as another client of the service would: the body of `createOnramp`, `callbackUrl` optional',
    input: OnChainDepositRequest,
    handle: (sandbox, body) => begin(sandbox, ON_CHAIN_DEPOSIT, body),
  }),
  endpoint({
    method: 'POST',
    path: '/system-event',
    summary: "Sends the account's webhook a `system.event`: {data?}",
    input: z.strictObject({ data: z.record(z.string(), z.unknown()).optional() }),
    async handle({ database, announce }, { data = { message: 'Scheduled maintenance' } }) {
      const news = { event: 'system.event', reference: '', status: '', data };
      return { deliveries: (await database.write(() => announce.webhook(news))).length };
    },
  }),

  // The deliveries and their receivers, and sending one again.
  endpoint({
    method: 'GET',
    path: '/deliveries',
    summary: 'Callbacks, webhooks and settlements, with every attempt and its answer: ?reference=&state=&stream=',
    input: z.strictObject({
      reference: z.string().optional(),
      state: z.string().optional(),
      stream: z.string().optional(),
    }),
    handle: ({ deliveries }, { stream, ...filter }) => ({
      deliveries: deliveries.list(filter).filter((one) => stream === undefined || one.stream === stream),
    }),
  }),
  endpoint({
    method: 'POST',
    path: '/deliveries/{id}/resend',
    summary: 'Sends it once more, now, under its own webhook id; shows it with the new attempt',
    async handle({ database, deliveries, scheduler }, _input, { id: given = '' }) {
      const delivery = deliveries.get(Number(given));
      if (delivery === undefined) throw unknownReference('Delivery', given);
      const { id, reference } = delivery;
      const order: DeliverOrder = { id, resent: true };
      const job = await database.write(() => scheduler.schedule(DELIVERY_JOB, 0, order));
      await scheduler.runNow(job);
      return deliveries.list({ reference }).find((one) => one.id === id);
    },
  }),

  // How things are to go from here on: scenarios, settings, time.
  endpoint({
    method: 'POST',
    path: '/scenarios',
    summary:
      'Chooses the ending of the operation that will carry this reference: {reference, ending, operation?, times?}',
    input: z.strictObject({
      reference: z.string().min(1),
      /** It may be set before it is known which operation will carry its reference. */
      ending: z.enum(ALL_ENDINGS),
      /** Only for this operation, if several carry one reference. */
      operation: z.enum(CATALOGUE.map(({ operation }) => operation)).optional(),
      times: z.number().int().min(0).optional(),
    }),
    async handle({ database, scenarios }, { reference, ending, operation, times }) {
      await database.write(() => scenarios.set(reference, { ending, times }, operation));
      return { reference, ending, operation, times };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/scenarios',
    summary: 'Scenarios that were set, all endings, and the magic amounts',
    handle: ({ scenarios }) => ({
      scenarios: scenarios.list(),
      endings: Object.fromEntries(CATALOGUE.map(({ operation, endings }) => [operation, stories(endings)])),
      magicAmounts: Object.fromEntries(CATALOGUE.map(({ operation, magic }) => [operation, magic])),
    }),
  }),
  endpoint({
    method: 'POST',
    path: '/settings',
    summary: 'Changes settings: {repeatMode?, stepMs?, vocabulary?, errorBody?, webhookUrl?, webhookProfile?, …}',
    input: Settings.partial(),
    handle: ({ database, settings }, input) => database.write(() => shownSettings(settings.change(defined(input)))),
  }),
  endpoint({
    method: 'POST',
    path: '/clock',
    summary: '{freeze: true}, {advanceMs} (answers when all that fell due is done) or {unfreeze: true}',
    input: z.union([
      z.strictObject({ freeze: z.literal(true) }),
      z.strictObject({ unfreeze: z.literal(true) }),
      z.strictObject({ advanceMs: z.number().int().min(0) }),
    ]),
    async handle({ database, clock, scheduler }, input) {
      if ('freeze' in input) clock.freeze();
      else if ('unfreeze' in input) clock.unfreeze();
      else await scheduler.advance(input.advanceMs);
      await database.write(() => clock.keep());
      scheduler.wake();
      return timeOf(clock);
    },
  }),
  endpoint({ method: 'GET', path: '/clock', summary: "The sandbox's own time", handle: ({ clock }) => timeOf(clock) }),

  // Faults between caller and service, and their log.
  endpoint({
    method: 'POST',
    path: '/faults',
    summary: 'Adds a fault: {operation, kind, first? | rate?, reference?, skip?, …}',
    input: FaultRule,
    async handle({ database, rules }, input) {
      return { id: await database.write(() => rules.add(input)), ...input };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/faults',
    summary: 'Faults that are set, and how often each was injected',
    handle: ({ rules }) => ({ faults: rules.list() }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/faults',
    summary: 'Removes every fault; the log stays',
    handle: async ({ database, rules }) => ({ removed: await database.write(() => rules.remove()) }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/faults/{id}',
    summary: 'Removes one fault',
    handle: async ({ database, rules }, _input, { id }) => ({
      removed: await database.write(() => rules.remove(Number(id))),
    }),
  }),
  endpoint({
    method: 'GET',
    path: '/faults/log',
    summary: 'What was injected, and whether it was committed: ?operation=&reference=',
    input: ByOperation,
    handle({ log }, input) {
      const injections = log.list(input);
      return { count: injections.length, injections };
    },
  }),

  // Effects on webhooks in transit, and a forger.
  endpoint({
    method: 'POST',
    path: '/adversary',
    summary: 'What is done to webhooks from now on: {stream?, duplicate?, drop?, reorder?, …}; {} for nothing',
    input: Mischief.extend({ stream: z.enum(STREAMS).optional() }),
    async handle({ database, adversary }, { stream, ...mischief }) {
      await database.write(() => adversary.set(stream === undefined ? STREAMS : [stream], mischief));
      return adversary.current();
    },
  }),
  endpoint({
    method: 'GET',
    path: '/adversary',
    summary: 'What is done to webhooks',
    handle: ({ adversary }) => adversary.current(),
  }),
  endpoint({
    method: 'POST',
    path: '/forge',
    summary: 'Posts an unsigned settlement, or callback, with every fact right: {reference, status?, url?, members?}',
    input: z.strictObject({
      reference: z.string().min(1),
      /** @default COMPLETED for a bridge deposit, else SUCCESSFUL */
      status: z.string().min(1).optional(),
      /** Target URL; else the provider's settlement URL, or the callback URL. */
      url: z.url().optional(),
      /** Members of the body to replace. */
      members: z.record(z.string(), z.unknown()).optional(),
    }),
    async handle(sandbox, { reference, status, url, members }) {
      const lie = lieAbout(sandbox, reference, status);
      const target = url ?? lie.url;
      if (target === undefined) throw badMembers([{ path: 'url', message: 'it has no callback URL: give url' }]);
      const body = JSON.stringify({ ...lie.body, ...members });
      try {
        const { deliveryTimeoutMs } = sandbox.settings.current();
        const answer = await sandbox.transport.post(target, body, {}, deliveryTimeoutMs);
        return { url: target, sent: JSON.parse(body) as unknown, answer };
      } catch (error) {
        throw new Refusal(502, 'NO_ANSWER', `${target} did not answer: ${(error as Error).message}`);
      }
    },
  }),

  // Everything back to the beginning: records, books, jobs, faults, settings and clock.
  endpoint({
    method: 'POST',
    path: '/reset',
    summary: 'Forgets everything, settings, faults and clock included',
    async handle({ database, notes, clock, rules }) {
      await database.write(() => {
        for (const table of TABLES) database.run(`DELETE FROM ${table}`);
        // Ids of faults begin at 1 again: they decide what the seed draws. Ids of jobs do not: a job in progress would
        // be taken for a later one.
        database.run("DELETE FROM sqlite_sequence WHERE name = 'fault_rules'");
        notes.forget();
        clock.reset();
        rules.forget();
      });
      return { reset: true };
    },
  }),
];

const timeOf = (clock: Controlled['clock']) => ({ now: clock.iso(), frozen: clock.frozen });

const shown = ({ wordFor, history }: Controlled, transaction: Transaction) => ({
  ...transaction,
  word: wordFor(kindOf(transaction.operation), transaction),
  history: history.of(transaction.id),
});

function newest({ transactions }: Controlled, reference: string, operation?: string): Transaction {
  const [transaction] = transactions.ofReference(reference, operation);
  if (transaction === undefined) throw unknownReference('Transaction', reference);
  return transaction;
}

/** As another client of the service would. */
async function begin<B extends { readonly referenceId: string }>(
  { database, admit }: Controlled,
  kind: Kind<B>,
  body: B,
): Promise<unknown> {
  const outcome = await database.write(() =>
    admit(kind, {
      body,
      reference: body.referenceId,
      answer: ({ id, reference }) => ({ message: `${kind.title} created`, data: { id, reference } }),
    }),
  );
  if (outcome instanceof Refusal) throw outcome;
  return outcome.data;
}

const apply = (sandbox: Controlled, reference: string, operation: string | undefined, input: Input) =>
  sandbox.database.write(() => {
    const { id, status } = newest(sandbox, reference, operation);
    if (sandbox.carrier.apply(id, input) === undefined) {
      throw badMembers([{ path: 'status', message: `there is no such transition from ${status}` }]);
    }
    return shown(sandbox, sandbox.transactions.get(id) as Transaction);
  });

const stories = (endings: Readonly<Record<string, { readonly story: string }>>) =>
  Object.fromEntries(Object.entries(endings).map(([ending, { story }]) => [ending, story]));

function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

function lieAbout(
  { deposits, transactions, clock, settlementUrl }: Controlled,
  reference: string,
  status: string | undefined,
): { url: string | undefined; body: object } {
  const [deposit] = deposits.ofReference(reference);
  if (deposit !== undefined) {
    const body = settlementBody(deposit, (status ?? 'COMPLETED') as BridgeStatus, clock);
    return { url: settlementUrl(), body };
  }
  const [transaction] = transactions.ofReference(reference) as readonly Transaction<never>[];
  if (transaction === undefined) throw unknownReference('Bridge deposit or transaction', reference);
  const kind = kindOf(transaction.operation);
  const body = kind.data(transaction, status ?? 'SUCCESSFUL', clock.iso());
  return { url: kind.callbackUrl(transaction.body), body };
}

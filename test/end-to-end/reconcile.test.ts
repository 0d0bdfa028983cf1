import type { Client } from '@temporalio/client';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { importsOf } from '../architecture/imports-of.js';
import { allFiles, readSource } from '../architecture/sources.js';
import { check } from './reconcile/check.js';
import { withOverdue } from './reconcile/gather.js';
import { digest } from './reconcile/json.js';
import type { FlowFact, InboxFact, ServiceRecord, Witnesses } from './reconcile/witnesses.js';
import { SERVICE_TOKEN } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from './stack.js';

const withdrawal = (referenceId: string) => ({
  referenceId,
  bankDetails: { bankCode: '0250', accountNumber: '62000000001' },
  currency: 'ZAR',
  amount: '250.5',
});

/** One withdrawal of each ending: paid out, refused by the bank, and in processing for ever. */
async function play(stack: Stack): Promise<Record<'completed' | 'failed' | 'never', string>> {
  const run = async (ending: string) => {
    const reference = newReference(ending);
    await stack.control('POST', '/scenarios', { reference, ending });
    if (ending === 'never') stack.expectParked(`bank-withdrawal/${reference}`, 'the scenario "never"');
    await stack.post('/flows/bank-withdrawal', { ...withdrawal(reference), timeScale: 0.001, deadlineSeconds: 1_000 });
    await stack.get(`/flows/bank-withdrawal/${reference}/wait?timeoutSeconds=300`);
    return reference;
  };
  return { completed: await run('completed'), failed: await run('failed'), never: await run('never') };
}

type Writable = { -readonly [Member in keyof Witnesses]: Writable1<Witnesses[Member]> };
type Writable1<T> = T extends readonly (infer Item)[] ? Item[] : T;

describe('the reconciler', () => {
  let honest: Witnesses;
  let references: Awaited<ReturnType<typeof play>>;
  beforeAll(async () => {
    const stack = await openStack({ drivenAlone: true });
    references = await play(stack);
    honest = await stack.reconcile();
    await stack.close();
  });

  test('finds nothing wrong in an honest run that has something of everything', () => {
    expect(check(honest)).toEqual([]);
    expect(honest.flows.map(({ state }) => state).toSorted()).toEqual(['completed', 'failed', 'parked']);
    expect(honest.executions).toHaveLength(3);
    expect(honest.claims).toHaveLength(3);
    expect(honest.inbox.length).toBeGreaterThan(1);
    expect(honest.deliveries.length).toBeGreaterThan(1);
    expect(honest.entries.length).toBeGreaterThan(4);
    expect(honest.wire?.filter(({ method }) => method === 'POST')).toHaveLength(3);
  });

  const flowId = (ending: keyof typeof references) => `bank-withdrawal/${references[ending]}`;
  const changeFlow = (witnesses: Writable, ending: keyof typeof references, change: Partial<FlowFact>) => {
    witnesses.flows = witnesses.flows.map((flow) => (flow.flowId === flowId(ending) ? { ...flow, ...change } : flow));
  };
  const changeRecord = (witnesses: Writable, ending: keyof typeof references, change: Partial<ServiceRecord>) => {
    const reference = references[ending];
    witnesses.records = witnesses.records.map((one) => (one.reference === reference ? { ...one, ...change } : one));
  };
  const last = <T>(items: readonly T[]): T => items.at(-1) as T;
  const claimed = (ending: keyof typeof references) => ({
    operation: 'createBankWithdrawal',
    reference: references[ending],
  });
  const twice = ({ executions }: Writable, ending: keyof typeof references) =>
    executions.push(
      ...executions.filter(({ reference }) => reference === references[ending]).map((one) => ({ ...one })),
    );
  /** As the product records it, for every client. */
  const noteSendAgain = ({ orders }: Writable) => orders.push({ ...claimed('completed'), action: 'send-again' });
  const driver = (path: string, body: object, status = 200) => ({
    of: 'gateway',
    method: 'POST',
    path,
    at: new Date().toISOString(),
    body: JSON.stringify(body),
    answer: { status, body: {} },
  });
  const orderSendAgain = ({ calls }: Writable, ending: keyof typeof references, status?: number) =>
    calls.push(driver(`/flows/${flowId(ending)}/resolve`, { action: 'send-again', note: 'it never came' }, status));
  /** The flow has ended as failed, and now the service says that it was paid out. */
  const paidLate = (w: Writable, change: Partial<InboxFact> = {}) => {
    changeRecord(w, 'failed', { status: 'SUCCESSFUL' });
    const body = { referenceId: references.failed, status: 'SUCCESSFUL' };
    const [place] = w.deliveries.filter(({ reference }) => reference === references.failed);
    const event = { status: 'SUCCESSFUL', body: JSON.stringify(body), answers: [200] };
    if (place !== undefined) w.deliveries.push({ ...place, ...event });
    const row = w.inbox.find((one) => one.flowId === flowId('failed'));
    if (row !== undefined) w.inbox.push({ ...row, state: 'late', status: 'SUCCESSFUL', body, repeats: 0, ...change });
  };

  test.each<[what: string, plant: (witnesses: Writable) => void]>([
    [
      'a second execution that the driver ordered by send-again',
      (w) => {
        twice(w, 'completed');
        w.wire?.push(...w.wire.filter(({ body }) => body.includes(references.completed)));
        noteSendAgain(w);
        orderSendAgain(w, 'completed');
      },
    ],
    ['a failed flow that the service pays later, if its own proven word of it is kept for review', (w) => paidLate(w)],
    [
      'a delivery that came twice and was counted',
      ({ deliveries, inbox }) => {
        const row = inbox.find(({ repeats }) => repeats === 0);
        const index = deliveries.findIndex(({ body }) => digest(JSON.parse(body)) === digest(row?.body));
        const copy = deliveries[index];
        if (row === undefined || copy === undefined) throw new Error('no event came once');
        deliveries[index] = { ...copy, answers: [...copy.answers, 200] };
        inbox.splice(inbox.indexOf(row), 1, { ...row, repeats: 1 });
      },
    ],
  ])('finds nothing wrong with %s', (_, plant) => {
    const planted = structuredClone(honest) as Writable;
    plant(planted);
    expect(check(planted)).toEqual([]);
  });

  test.each<[invariant: string, violation: string, plant: (witnesses: Writable) => void]>([
    ['I1', 'an execution that happened twice', (w) => void twice(w, 'completed')],
    [
      'I1',
      'a second execution after a send-again that the product noted, and the driver never ordered',
      (w) => {
        twice(w, 'completed');
        noteSendAgain(w);
      },
    ],
    [
      'I1',
      'a second execution after a send-again that the gateway refused to the driver',
      (w) => {
        twice(w, 'completed');
        noteSendAgain(w);
        orderSendAgain(w, 'completed', 409);
      },
    ],
    [
      'I1',
      'a second execution after a send-again that the driver ordered of another flow',
      (w) => {
        twice(w, 'completed');
        noteSendAgain(w);
        orderSendAgain(w, 'failed');
      },
    ],
    [
      'I1',
      'a send-again that the driver never ordered, even if nothing was executed by it',
      (w) => void noteSendAgain(w),
    ],
    ['I1', 'a completed flow that was never executed', (w) => void (w.executions = w.executions.slice(1))],
    [
      'I1',
      'a request that was sent twice over the wire, even if the service executed it once',
      ({ wire }) => void wire?.push({ ...last(wire.filter(({ method }) => method === 'POST')), status: null }),
    ],
    ['I2', 'a flow that is missing', (w) => void (w.flows = w.flows.filter((f) => f.flowId !== flowId('failed')))],
    ['I2', 'a flow that still runs', (w) => changeFlow(w, 'never', { state: 'running' })],
    [
      'I14',
      'a flow that runs a minute past its deadline',
      (w) => changeFlow(w, 'never', { state: 'running', overdueMs: 60_000 }),
    ],
    ['I2', 'a flow that says two things', (w) => changeFlow(w, 'completed', { state: 'COMPLETED and failed' })],
    [
      'I3',
      'an entry that is off by a cent',
      ({ entries }) => {
        const entry = last(entries);
        const [first, ...rest] = entry.postings;
        const postings = first === undefined ? [] : [{ ...first, amount: '250.51' }, ...rest];
        entries.splice(-1, 1, { ...entry, postings });
      },
    ],
    ['I3', 'an entry that is lost', (w) => void w.entries.pop()],
    [
      'I4',
      'a refund of what was settled',
      ({ entries }) =>
        entries.push(
          { kind: 'settlement', reference: references.completed, postings: [] },
          { kind: 'refund', reference: references.completed, postings: [] },
        ),
    ],
    ['I15', 'a webhook that was answered 2xx and is not kept', (w) => void w.inbox.pop()],
    [
      'I15',
      'a lost webhook beside one that is kept and was never answered: the sums are right',
      ({ inbox }) => inbox.splice(-1, 1, { ...last(inbox), body: { status: 'SUCCESSFUL', referenceId: 'another' } }),
    ],
    [
      'I15',
      'a repeat that was answered 2xx and is not counted',
      ({ deliveries }) => deliveries.push({ ...last(deliveries), answers: [200] }),
    ],
    [
      'I15',
      'a genuine event that was refused for good',
      ({ deliveries }) => deliveries.push({ ...last(deliveries), answers: [404] }),
    ],
    [
      'I5',
      'an event that was applied twice',
      ({ inbox }) => {
        const row = inbox.find(({ state }) => state === 'applied');
        if (row !== undefined) inbox.push({ ...row });
      },
    ],
    ['I5', 'an event that came by no delivery', ({ inbox }) => inbox.push({ ...last(inbox), body: { made: 'up' } })],
    ['I5', 'an event that is never settled', ({ inbox }) => inbox.push({ ...last(inbox), state: 'delivered' })],
    [
      'I5',
      'an event that was applied to two flows',
      ({ inbox }) => inbox.push({ ...last(inbox), state: 'applied', flowId: flowId('never') }),
    ],
    ['I6', 'a flow that completed what failed', (w) => changeFlow(w, 'failed', { state: 'completed' })],
    ['I7', 'an orphan', ({ executions }) => executions.push({ ...last(executions), reference: 'of-no-flow' })],
    ['I7', 'a phantom', (w) => void (w.executions = w.executions.filter((e) => e.reference !== references.failed))],
    ['I8', 'failed while the entry is pending', (w) => changeFlow(w, 'never', { state: 'failed' })],
    ['I8', 'failed while the entry is settled', (w) => changeFlow(w, 'completed', { state: 'failed' })],
    ['I8', 'cancelled while the entry is pending', (w) => changeFlow(w, 'never', { state: 'cancelled' })],
    ['I8', 'a late event with the right word that is not trusted', (w) => paidLate(w, { isTrusted: false })],
    [
      'I8',
      'a late event with the right word that the service never sent',
      (w) => paidLate(w, { body: { status: 'SUCCESSFUL', forged: true } }),
    ],
    ['I8', 'a late event of another word', (w) => paidLate(w, { state: 'duplicate' })],
    [
      'I8',
      'a failure by the word of a person, which the driver never gave',
      (w) => changeFlow(w, 'never', { state: 'failed', reason: 'closed_by_person' }),
    ],
    ['I12', 'a flow that is parked, and no fault was injected for it', (w) => void (w.expectations = [])],
    ['I12', 'another flow that is parked', (w) => changeFlow(w, 'completed', { state: 'parked' })],
    [
      'I13',
      'an execution of another amount',
      ({ executions }) => executions.splice(-1, 1, { ...last(executions), amount: '250.51' }),
    ],
    [
      'I13',
      'an execution in another currency',
      ({ executions }) => executions.splice(-1, 1, { ...last(executions), currency: 'KES' }),
    ],
    [
      'I13',
      'an execution to another receiver',
      (w) =>
        changeRecord(w, 'completed', {
          body: { ...withdrawal('x'), bankDetails: { bankCode: '0250', accountNumber: '1' } },
        }),
    ],
    ['I13', 'executions that the driver never ordered', (w) => void (w.calls = [])],
    ['I13', 'an execution that never went over the wire', ({ wire }) => void wire?.splice(0)],
    [
      'I13',
      'an answer on the wire to what was never executed',
      ({ wire }) => {
        const sent = last(wire ?? []);
        wire?.push({ ...sent, method: 'POST', path: '/api/v3/onramp', body: '{"referenceId":"lost"}', status: 200 });
      },
    ],
  ])('%s: names %s', (invariant, _, plant) => {
    const planted = structuredClone(honest) as Writable;
    plant(planted);
    expect(check(planted).map((violation) => violation.invariant)).toContain(invariant);
  });

  test('names a flow that never comes to rest, with how long its deadline, by its own view, has passed', async () => {
    const deadlineAt = new Date(Date.now() - 60_000).toISOString();
    const client = {
      workflow: { getHandle: () => ({ query: () => Promise.resolve({ view: { deadlineAt } }) }) },
      connection: { withDeadline: (_: number, ask: () => Promise<unknown>) => ask() },
    } as unknown as Client;
    const [flow] = honest.flows as readonly [FlowFact];
    const running = await withOverdue({ client }, { ...flow, state: 'running' });
    expect(running.overdueMs).toBeGreaterThanOrEqual(60_000);
    expect(await withOverdue({ client }, { ...flow, state: 'parked' })).not.toHaveProperty('overdueMs');
  });

  test('shares no code with the product', () => {
    const own = /^test\/(end-to-end\/reconcile(\/|\.ts$)|kinds\/|harness\/(journal|wire-log|kinds?|parties)\.ts$)/;
    // The names of the kinds, and what they are described by. Types are nothing that could agree with a mistake.
    const shared = /^(node:|libsql$|pg$|@temporalio\/client$|src\/protocol\/vocabulary\.ts$)/;
    const files = allFiles().filter((path) => own.test(path));
    expect(files.length).toBeGreaterThan(10);
    const foreign = files
      .flatMap((path) => importsOf(readSource(path)))
      .filter(({ to, typeOnly }) => !typeOnly && !shared.test(to) && !own.test(to));
    expect(foreign).toEqual([]);
  });
});

describe('the reconciler of a stack', () => {
  test('refuses to close it when money moved twice, or beside us, and names the invariants', async () => {
    const stack = await openStack({ drivenAlone: true, sandbox: { repeatMode: 'execute-again' } });
    const { completed: paid } = await play(stack);
    for (const reference of [paid, 'behind-our-back']) {
      const answer = await fetch(`${stack.sandbox.url}/api/v3/withdraw/v2/bank`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${SERVICE_TOKEN}` },
        body: JSON.stringify({ ...withdrawal(reference), amount: 250.5 }),
      });
      expect(answer.status).toBe(200);
    }
    const message = await stack.close().then(
      () => 'it closed',
      (error: Error) => error.message,
    );
    const broken = [...message.matchAll(/\b(I\d+): createBankWithdrawal (\S+) /g)].map(([, invariant, of]) => [
      invariant,
      of,
    ]);
    for (const expected of [
      ['I1', paid],
      ['I13', paid],
      ['I7', 'behind-our-back'],
    ])
      expect(broken).toContainEqual(expected);
  });
});

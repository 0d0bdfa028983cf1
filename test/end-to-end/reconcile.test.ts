import { beforeAll, describe, expect, test } from '@jest/globals';
import { importsOf } from '../architecture/imports-of.js';
import { allFiles, readSource } from '../architecture/sources.js';
import { newReference } from '../workflows/bench.js';
import { check } from './reconcile/check.js';
import type { FlowFact, Witnesses } from './reconcile/witnesses.js';
import { openStack, SERVICE_TOKEN, type Stack } from './stack.js';

const withdrawal = (referenceId: string) => ({
  referenceId,
  bankDetails: { bankCode: '0250', accountNumber: '62000000001' },
  currency: 'ZAR',
  amount: '250.5',
});

/** One withdrawal of each ending: paid out, refused by the bank, and for ever on its way. */
async function play(stack: Stack): Promise<Record<'completed' | 'failed' | 'never', string>> {
  const run = async (ending: string) => {
    const reference = newReference(ending);
    await stack.control('POST', '/scenarios', { reference, ending });
    await stack.post('/flows/bank-withdrawal', { ...withdrawal(reference), timeScale: 0.001, deadlineSeconds: 1_000 });
    await stack.get(`/flows/bank-withdrawal/${reference}/wait?timeoutSeconds=20`);
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
    const stack = await openStack();
    references = await play(stack);
    honest = await stack.reconcile();
    await stack.close();
  });

  test('finds nothing where nothing is wrong, in a run that has something of everything', () => {
    expect(check(honest)).toEqual([]);
    expect(honest.flows.map(({ state }) => state).toSorted()).toEqual(['completed', 'failed', 'parked']);
    expect(honest.executions).toHaveLength(3);
    expect(honest.claims).toHaveLength(3);
    expect(honest.inbox.length).toBeGreaterThan(1);
    expect(honest.entries.length).toBeGreaterThan(4);
  });

  const flowId = (ending: keyof typeof references) => `bank-withdrawal/${references[ending]}`;
  const changeFlow = (witnesses: Writable, ending: keyof typeof references, change: Partial<FlowFact>) => {
    witnesses.flows = witnesses.flows.map((flow) => (flow.flowId === flowId(ending) ? { ...flow, ...change } : flow));
  };
  const last = <T>(items: readonly T[]): T => items.at(-1) as T;
  const execution = (reference: string) => ({ operation: 'createBankWithdrawal', reference });

  test.each<[invariant: string, violation: string, plant: (witnesses: Writable) => void]>([
    ['I1', 'an execution that happened twice', ({ executions }) => executions.push(last(executions))],
    ['I1', 'a completed flow that was never executed', (w) => void (w.executions = w.executions.slice(1))],
    ['I2', 'a flow that is missing', (w) => void (w.flows = w.flows.filter((f) => f.flowId !== flowId('failed')))],
    ['I2', 'a flow that still runs', (w) => changeFlow(w, 'never', { state: 'running' })],
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
    ['I5', 'a webhook that was answered 2xx and is not kept', (w) => void w.inbox.pop()],
    ['I5', 'an event that nobody settled', ({ inbox }) => inbox.push({ ...last(inbox), state: 'delivered' })],
    [
      'I5',
      'an event that was applied to two flows',
      ({ inbox }) => inbox.push({ ...last(inbox), state: 'applied', flowId: flowId('never') }),
    ],
    ['I6', 'a flow that completed what failed', (w) => changeFlow(w, 'failed', { state: 'completed' })],
    ['I7', 'an orphan', ({ executions }) => executions.push(execution('nobody-s'))],
    ['I7', 'a phantom', (w) => void (w.executions = w.executions.filter((e) => e.reference !== references.failed))],
    ['I8', 'failed while the entry is pending', (w) => changeFlow(w, 'never', { state: 'failed' })],
    ['I8', 'failed while the entry is settled', (w) => changeFlow(w, 'completed', { state: 'failed' })],
    ['I8', 'cancelled while the entry is pending', (w) => changeFlow(w, 'never', { state: 'cancelled' })],
  ])('%s: turns red at %s', (invariant, _, plant) => {
    const planted = structuredClone(honest) as Writable;
    plant(planted);
    expect(check(planted).map((violation) => violation.invariant)).toContain(invariant);
  });

  test('shares no code with the product', () => {
    const files = allFiles().filter((path) => /^test\/end-to-end\/reconcile(\/|\.ts$)/.test(path));
    expect(files.length).toBeGreaterThan(5);
    const foreign = files
      .flatMap((path) => importsOf(readSource(path)))
      .filter(({ to }) => !/^(node:|libsql$|pg$|@temporalio\/client$|test\/end-to-end\/reconcile(\/|\.ts$))/.test(to));
    expect(foreign).toEqual([]);
  });
});

describe('a stack in which money really moves twice, and beside us', () => {
  test('does not close without saying so', async () => {
    const stack = await openStack({ sandbox: { repeatMode: 'execute-again' } });
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
    expect(message).toContain(`I1: createBankWithdrawal ${paid} was executed 2 times`);
    expect(message).toContain('I7: createBankWithdrawal behind-our-back was executed, and no flow has claimed it');
  });
});

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { describe, expect, test } from '@jest/globals';
import { run } from '../cli/run.js';
import { CANARY_CARD } from '../harness/parties.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import { scan } from './canary-scan.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { SECRET, SIGNED, startOne, subscribe, whenDone } from './kinds-at-play.js';
import { keyring, SERVICE_TOKEN } from '../harness/fixed.js';
import { type Stack, withStack } from './stack.js';
import { secretBytes } from '../harness/secrets.js';

const OLD_SECRET = `whsec_${secretBytes(1).toString('base64')}`;
const VERIFICATION = 'canary-verification-token';
const ACCOUNT = {
  organization: 'Canary Organization',
  product_name: 'Remit',
  first_name: 'Zyxwina',
  last_name: 'Canaryowner',
  email: 'canary@example.com',
  phone: '+27829876543',
  country_code: 'ZAF',
};
const PERSONAL = [
  'Canary Payer',
  'Canary Payee',
  'Canary Receiver',
  'Canary Recipient',
  'Canaryowner',
  'canary@example.com',
  '+27829876543',
  '+27821234567',
  '+254712345678',
  '0012345678',
  '62000000001',
  '0x1111111111111111111111111111111111111111',
];
const dataConverter = createDataConverter({ keyring, namespace: 'default' });

describe('after a flow of every kind and every refund, a card that was lost on the way, and every account command', () => {
  let stack: Stack;
  withStack(SIGNED, (opened) => (stack = opened));

  test('I11: no card, token, secret, name or number is in the clear in history, store or log; a planted one is found', async () => {
    await subscribe(stack);
    const card = KINDS.filter(({ kind }) => kind === 'card-deposit');
    await stack.control('POST', '/faults', { operation: 'createCardDeposit', kind: 'answer-lost', first: 1 });
    const play = async (kind: NamedKind, ending = {}) => {
      // A card is kept for its whole minute: a scaled one may be over before a busy machine begins to send.
      const timeScale = kind.kind === 'card-deposit' ? 1 : 0.02;
      const reference = await startOne(stack, kind, { ...ending, more: { timeScale } });
      const { state, parked } = await whenDone(stack, kind.kind, reference);
      return parked === null ? state : { kind: kind.kind, parked };
    };
    const refunded = KINDS.flatMap((kind) =>
      kind.refunds === undefined ? [] : [play(kind, { ending: kind.refunds })],
    );
    expect(new Set(await Promise.all([...card, ...KINDS].map((kind) => play(kind))))).toEqual(new Set(['completed']));
    expect(new Set(await Promise.all(refunded))).toEqual(new Set(['refunded']));

    const home = join(stack.folder, 'home');
    await mkdir(home);
    const secrets = [SERVICE_TOKEN, 'dev-token', SECRET, OLD_SECRET, VERIFICATION];
    const env = {
      TOWLINE_HOME: home,
      SERVICE_BASE_URL: stack.sandbox.url,
      DEVELOPMENT: 'true',
      SERVICE_TOKEN,
      WEBHOOK_SECRETS: OLD_SECRET,
    };
    const printed: string[] = [];
    for (const [args, stdin] of [
      [['create', '-'], JSON.stringify(ACCOUNT)],
      [['verify'], VERIFICATION],
      [['api-key'], ''],
      [['webhook', '--rotate'], ''],
    ] as const) {
      const { code, out, err } = await run(['account', ...args], env, stdin);
      expect([args, code]).toEqual([args, 0]);
      printed.push(out, err);
    }
    const key = await run(['account', 'api-key', '--stdout'], env);
    secrets.push(key.out);
    expect(key.out).toMatch(/^key-/);

    const look = (output = printed.join('\n')) =>
      scan(stack, dataConverter, { secret: secrets, personal: PERSONAL }, { output });
    const { found, read } = await look();
    expect(found).toEqual([]);
    expect(Object.keys(read)).toEqual([
      'history',
      'history, decrypted',
      'search attributes',
      'store and files',
      'log',
      'output',
    ]);
    for (const where of ['history', 'history, decrypted', 'store and files', 'log']) {
      expect(read[where]).toBeGreaterThan(10_000);
    }

    // The scan would have found each of them.
    const leak = join(stack.folder, 'store.db-leak');
    await writeFile(leak, `x ${CANARY_CARD.number} y`);
    stack.workerLog.push(`sent ${SERVICE_TOKEN}`);
    const plain = new Client({ connection: stack.client.connection });
    // The scan reads it although it is no flow.
    const workflowId = newReference('no-flow-of-ours');
    const leaky = await plain.workflow.start('leaky', {
      taskQueue: stack.taskQueue,
      workflowId,
      args: [{ name: 'Canary Payer', cvv: CANARY_CARD.cvv }],
    });
    await until('it to be listed', () => listed(stack.client, `WorkflowId = '${workflowId}'`));
    const planted = (await look(key.out)).found;
    await leaky.terminate();
    await rm(leak);
    stack.workerLog.pop();
    expect(planted).toEqual(
      expect.arrayContaining([
        `${CANARY_CARD.number} in store and files`,
        `${SERVICE_TOKEN} in log`,
        'Canary Payer in history',
        `${CANARY_CARD.cvv} in history`,
        `${CANARY_CARD.cvv} in history, decrypted`,
        `${key.out} in output`,
      ]),
    );
    expect(new Set(planted.map((where) => where.split(' in ')[1]))).toEqual(
      new Set(['store and files', 'log', 'history', 'history, decrypted', 'output']),
    );
  }, 120_000);
});

/** Temporal's list of executions lags behind. */
async function listed(client: Client, query: string): Promise<boolean> {
  for await (const _ of client.workflow.list({ query })) return true;
  return false;
}

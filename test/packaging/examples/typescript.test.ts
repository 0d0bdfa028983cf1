import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createCallbackSender } from '../../../src/callbacks/index.js';
import { packageRoot } from '../../../src/package-root.js';
import { startSandbox } from '../../../src/sandbox/sandbox.js';
import { Towline } from '../../../src/sdk/index.js';
import { installedProject, type InstalledProject } from './installed-project.js';
import { SERVICE_TOKEN } from '../../harness/fixed.js';
import { KINDS } from '../../harness/kinds.js';
import { type Stack, withStack } from '../../end-to-end/stack.js';

jest.setTimeout(300_000);

const CALLBACK_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const newReference = () => `example-${randomUUID()}`;

let project: InstalledProject;
beforeAll(async () => (project = await installedProject()));
afterAll(() => rm(project.folder, { recursive: true, force: true }));

describe('the packed package, in a project of a user,', () => {
  test('takes inputs by the types of their kinds, and no others', async () => {
    const { code, all } = await project.check(
      'types.ts',
      `import { JsonText, Towline, type Flow, type FlowInput } from 'towline';
const towline = new Towline({ baseUrl: 'http://127.0.0.1:1', token: 'x' });
const bank = { accountNumber: '1', bankCode: '0250', country: 'ZAF' };
const mobileMoney = { phoneNumber: '+254712345678', providerNetwork: 'MPESA' } as const;
export const started: Promise<Flow>[] = [
${KINDS.map(({ kind, input }) => `  towline.start('${kind}', ${JSON.stringify(input('r-1'))}),`).join('\n')}
  towline.start('invoice-payment', { referenceId: 'i-1', currency: 'KES', amount: '10.50', bank, payment: { mobileMoney } }),
  towline.start('invoice-payment', { referenceId: 'i-2', currency: 'KES', amount: '10.50', mobileMoney }),
  towline.pay('invoice-payment/i-1', { mobileMoney }),
  towline.start('bridge-transfer', new JsonText('{}')),
  // @ts-expect-error a kind that there is not
  towline.start('teleport', { referenceId: 'x' }),
${KINDS.map(({ kind }) => `  // @ts-expect-error a reference alone, under a name of no kind\n  towline.start('${kind}', { reference: 'x' }),`).join('\n')}
  // @ts-expect-error an amount that is missing
  towline.start('invoice-payment', { referenceId: 'i-1', currency: 'KES', bank }),
  // @ts-expect-error a currency that there is not
  towline.start('invoice-payment', { referenceId: 'i-1', currency: 'XXX', amount: '1', bank }),
];
type Card = FlowInput<'card-deposit'>;
const payer = { referenceId: 'c-1', fullName: 'A', phoneNumber: '+27821234567', currency: 'ZAR', amount: '1' } as const;
export const withToken: Card = { ...payer, cardToken: 'towline-cards-x' };
export const withCard: Card = {
  ...payer,
  card: { number: '4111111111111111', expiryMonth: '12', expiryYear: '2030', cvv: '123', holder: 'A' },
};
// @ts-expect-error neither a card nor its token
export const withNeither: Card = payer;
`,
    );
    expect(all).toBe('');
    expect(code).toBe(0);
  });

  test('takes what its document shows', async () => {
    const document = await readFile(join(packageRoot(), 'docs', 'client.md'), 'utf8');
    const shown = /```ts\n([^]+?)```/.exec(document)?.[1] ?? 'no example';
    const { all } = await project.check('docs.ts', `declare const order: { id: string };\n${shown}\nflow.state;\n`);
    expect(all).toBe('');
  });

  test('exports nothing but its entry', async () => {
    const { all } = await project.check('inside.ts', `import 'towline/dist/src/store/libsql/open.js';`);
    // No such module, to the compiler.
    expect(all).toMatch(/^inside\.ts.+\bTS\d+/);
  });
});

describe('the examples in TypeScript,', () => {
  let stack: Stack;
  const sender = createCallbackSender({ secrets: () => [CALLBACK_SECRET], allowLoopback: true });
  withStack({ activities: { callbacks: sender } }, (opened) => (stack = opened));
  const env = () => ({ GATEWAY_URL: stack.url, TOWLINE_TOKEN: 'dev-token' });

  const expectOneDeposit = async (reference: string) => {
    const query = `operation=createBridgeDeposit&reference=${reference}`;
    expect(await stack.control('GET', `/executions?${query}`)).toMatchObject({ count: 1 });
  };

  test('start-and-wait: a transfer runs to its end, and the same one again is the same flow', async () => {
    const reference = newReference();
    const flowId = `bridge-transfer/${reference}`;
    for (let times = 0; times < 2; times += 1) {
      const { code, all } = await project.run('start-and-wait', [reference], { env: env() });
      expect({ code, all }).toEqual({
        code: 0,
        all: expect.stringMatching(new RegExp(`^${flowId} runs\n${flowId}: completed\\. .+\n$`)),
      });
    }
    await expectOneDeposit(reference);
  });

  test('start-and-wait: a reference of another transfer is refused, and nothing is started', async () => {
    const reference = newReference();
    const towline = new Towline({ baseUrl: stack.url, token: 'dev-token' });
    await towline.start('bridge-transfer', { ...TRANSFER, amount: '999.50', provider_reference_id: reference });
    const { code, all } = await project.run('start-and-wait', [reference], { env: env() });
    expect(all).not.toContain('runs');
    expect(code).toBe(1);
    expect((await towline.result(`bridge-transfer/${reference}`)).state).toBe('completed');
    await expectOneDeposit(reference);
  });

  test('change-base-url: the gateway answers as the service does, and pays once however often it is run', async () => {
    const direct = newReference();
    const durable = newReference();
    const run = async (url: string, reference: string) => {
      const env = { SERVICE_URL: url, SERVICE_TOKEN };
      const { code, all } = await project.run('change-base-url', [reference], { env });
      return { code, all };
    };
    const service = await startSandbox({ dbPath: join(stack.folder, 'direct.db'), token: SERVICE_TOKEN, stepMs: 50 });
    const atService = await run(service.url, direct);
    await service.close();
    expect(atService).toEqual({ code: 0, all: expect.stringMatching(/\bSUCCESS\w*\n$/) });
    expect(await run(stack.url, durable)).toEqual(atService);
    expect(await run(stack.url, durable)).toEqual(atService);
    const towline = new Towline({ baseUrl: stack.url, token: 'dev-token' });
    expect((await towline.result(`crypto-send/${durable}`)).state).toBe('completed');
    const query = `operation=sendCrypto&reference=${durable}`;
    expect(await stack.control('GET', `/executions?${query}`)).toMatchObject({ count: 1 });
  });

  test('receive-callbacks: verified, in order, to the last; a forged one is refused', async () => {
    const reference = newReference();
    const flowId = `bridge-transfer/${reference}`;
    let forged: number | undefined;
    let started = false;
    const begin = async (callbackUrl: string) => {
      const body = { type: 'flow.updated', timestamp: '2099-01-01T00:00:00.000Z', data: { flowId, state: 'failed' } };
      const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': `${Math.floor(Date.now() / 1_000)}` };
      const signature = { 'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}` };
      const forgery = { method: 'POST', body: JSON.stringify(body), headers: { ...headers, ...signature } };
      forged = (await fetch(callbackUrl, forgery)).status;
      const towline = new Towline({ baseUrl: stack.url, token: 'dev-token' });
      await towline.start('bridge-transfer', { ...TRANSFER, provider_reference_id: reference, callbackUrl });
    };
    let failure: unknown;
    const { out } = await project.run('receive-callbacks', [], {
      env: { CALLBACK_SECRETS: CALLBACK_SECRET, PORT: '0' },
      watch(child, printed) {
        const url = /^callbackUrl: (.+)$/m.exec(printed)?.[1];
        if (url !== undefined && !started) {
          started = true;
          begin(url).catch((error: unknown) => {
            failure = error;
            child.kill();
          });
        }
        if (printed.includes(`${flowId}: completed`)) child.kill();
      },
    });
    expect(failure).toBeUndefined();
    expect(forged).toBe(401);
    expect(out).not.toContain('failed');
    expect(out.trimEnd().split('\n').at(-1)).toBe(`${flowId}: completed (done)`);
  });
});

const TRANSFER = {
  customer_key: 'customer-1',
  amount: '1000.50',
  source_currency: 'KES',
  wallet_id: 'wallet-1',
  transaction_type: 'cross_border',
  chain: 'CELO',
  token: 'USDC',
  crypto_payment: { address: '0x1111111111111111111111111111111111111111', crypto_amount: '7.5' },
  settlement: { amount: '100', currency: 'ZAR', country: 'ZA', recipient: { phone_number: '+27821234567' } },
} as const;

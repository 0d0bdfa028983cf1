import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exampleInput } from '../../src/cli/demo/play-scene.js';
import { flowOf } from '../../src/flows/index.js';
import { FLOW_KINDS } from '../../src/protocol/vocabulary.js';
import { startDevServer } from '../../src/dev-server/dev-server.js';
import { packageRoot } from '../../src/package-root.js';
import { SIGNED, subscribe } from '../end-to-end/kinds-at-play.js';
import { newReference } from '../harness/references.js';
import { type Stack, withStack } from '../end-to-end/stack.js';

/** Its own server: other tests start the examples, too, whose references are what they are. */
const home = await mkdtemp(join(tmpdir(), 'towline-examples-'));
const server = await startDevServer({
  executable: process.env['TEST_TEMPORAL_CLI'] ?? '',
  home,
  port: 0,
  uiPort: false,
  searchAttributes: { TowlineState: 'Keyword' },
  log: () => {},
});
afterAll(async () => {
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

const EXAMPLES = join(packageRoot(), 'examples');

/** What was begun elsewhere before the flow starts. */
const BEFORE: Record<string, (stack: Stack, reference: string) => Promise<unknown>> = {
  'mobile-money-watch': (stack, referenceId) =>
    stack.control('POST', '/mobile-money-deposits', {
      referenceId,
      amount: 9,
      currency: 'KES',
      phoneNumber: '+254712345678',
    }),
};

/** What each must have moved, and no more; nothing where it only watches. */
const EXECUTES: Record<string, readonly string[]> = {
  'bridge-transfer': ['createBridgeDeposit'],
  'invoice-payment': ['createInvoice', 'payInvoice'],
  onramp: ['createOnramp'],
  'crypto-send': ['sendCrypto'],
  offramp: ['createOfframp'],
  'bank-checkout': ['createBankCheckout'],
  'card-deposit': ['createCardDeposit'],
  'bank-withdrawal': ['createBankWithdrawal'],
  'mobile-money-watch': ['mobileMoneyDeposit'],
};

describe('the examples, as they stand, with every webhook of the service', () => {
  let stack: Stack;
  withStack({ ...SIGNED, temporalAddress: server.address }, (opened) => (stack = opened));
  beforeAll(() => subscribe(stack));

  test('there is one for every kind, and none besides', async () => {
    const files = (await readdir(EXAMPLES)).filter((file) => file.endsWith('.json'));
    expect(files.toSorted()).toEqual(FLOW_KINDS.map((kind) => `${kind}.json`).toSorted());
  });

  test.each(FLOW_KINDS)('%s.json is started over HTTP, completes, and is executed once', async (kind) => {
    const text = await readFile(join(EXAMPLES, `${kind}.json`), 'utf8');
    await BEFORE[kind]?.(stack, (JSON.parse(text) as { referenceId: string }).referenceId);
    const started = await stack.post(`/flows/${kind}`, text);
    expect([started.status, started.body]).toEqual([201, expect.objectContaining({ kind })]);
    const { flowId, reference } = started.body;
    const { body: ended } = await stack.get(`/flows/${flowId}/wait?timeoutSeconds=60`);
    expect(ended).toMatchObject({ state: 'completed' });
    const { executions } = await stack.control('GET', `/executions?reference=${reference}`);
    expect(executions.map(({ operation }: { operation: string }) => operation)).toEqual(EXECUTES[kind] ?? []);
  });

  test.each(FLOW_KINDS.filter((kind) => kind !== 'card-deposit'))(
    '%s.json is the whole input of a flow, under any reference',
    async (kind) => {
      const reference = newReference('example');
      const parsed = flowOf(kind).input.safeParse(await exampleInput(kind, reference));
      expect(parsed?.error).toBeUndefined();
      expect(flowOf(kind).referenceOf(parsed?.data)).toBe(reference);
    },
  );
});

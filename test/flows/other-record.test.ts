import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { MoneyOperationName } from '../../src/contract/index.js';
import type { FlowKind } from '../../src/protocol/vocabulary.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { type Stack, openStack } from '../harness/stack.js';

const ADDRESS = '0x3333333333333333333333333333333333333333';
const common = { chain: 'CELO', token: 'USDC' } as const;
const receiver = { mobileMoneyReceiver: { phoneNumber: '+254712345678', networkProvider: 'MPESA' } };

interface Case {
  readonly kind: FlowKind;
  readonly operation: MoneyOperationName;
  readonly amount: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** As they send it who used the reference before. */
  readonly theirs: Readonly<Record<string, unknown>>;
}

const CASES: readonly Case[] = [
  {
    kind: 'onramp',
    operation: 'createOnramp',
    amount: 'fiatAmount',
    body: { ...common, currency: 'KES', receiverAddress: ADDRESS },
    theirs: { callbackUrl: 'http://127.0.0.1:9/' },
  },
  {
    kind: 'crypto-send',
    operation: 'sendCrypto',
    amount: 'cryptoAmount',
    body: { ...common, receiverAddress: ADDRESS },
    theirs: {},
  },
  {
    kind: 'offramp',
    operation: 'createOfframp',
    amount: 'cryptoAmount',
    body: { ...common, currency: 'KES', ...receiver },
    theirs: { callbackUrl: 'http://127.0.0.1:9/' },
  },
];

/** A service that answers a repeated reference with its first result says "accepted" of what it never executes. */
describe('where a reference was used before, elsewhere, and the service answers with its first result', () => {
  let bench: Stack;
  beforeAll(async () => {
    bench = await openStack({ time: 'skipping', sandbox: { stepMs: 20, repeatMode: 'same-result' } });
  });
  afterAll(() => bench.close());

  test.each(CASES)(
    'an accepted $kind whose record has another amount is not called completed: it parks with both',
    async ({ kind, operation, amount, body, theirs }) => {
      const referenceId = newReference('taken');
      const call = bench.deps.service[operation] as (body: unknown) => Promise<unknown>;
      await call({ ...body, ...theirs, [amount]: 9, referenceId });
      const ours = { ...body, [amount]: '12.50', referenceId, timeScale: 0.01 };
      const handle = await bench.startFlow(kind, referenceId, ours);
      const { view } = await untilFlow(handle, (report) => report.view.state === 'parked');
      expect(view.parked).toMatchObject({
        reason: 'conflict',
        evidence: { differs: [amount], ours: { [amount]: '12.5' }, theirs: { [amount]: '9' } },
      });
      expect(await bench.executions(operation, referenceId)).toBe(1);
      await handle.terminate();
    },
  );
});

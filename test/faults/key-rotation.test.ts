import { expect, test } from '@jest/globals';
import { createKeyring, type Keyring, type PayloadKey } from '../../src/keys/index.js';
import type { FlowReport } from '../../src/api/flow.js';
import { historiesOfKeys } from '../../src/temporal/keys-of-histories.js';
import { ACCOUNT, NAMESPACE } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { openStack } from '../harness/stack.js';
import { openAt } from '../store/temporary-store.js';

const OLD: PayloadKey = { id: 'old', bytes: new Uint8Array(32).fill(7) };
const NEW: PayloadKey = { id: 'new', bytes: new Uint8Array(32).fill(9) };
const AT_ONCE = 8;

/** The keys that client, worker and gateway have at this moment, as by a restart of each. */
function createChangingKeyring(): Keyring & { give(...keys: PayloadKey[]): void } {
  let present = createKeyring([OLD]);
  return {
    get active() {
      return present.active;
    },
    get ids() {
      return present.ids;
    },
    find: (id) => present.find(id),
    give: (...keys) => void (present = createKeyring(keys)),
  };
}

test('keys.reseal under load, and then dropping the old payload key, leaves every flow paid once, completed and readable', async () => {
  const keyring = createChangingKeyring();
  const stack = await openStack({ keyring, gateway: {}, worker: false });
  const first = await stack.worker();
  const send = async (word: string) => {
    const reference = newReference(word);
    await stack.control('POST', '/scenarios', { reference, ending: 'never' });
    const handle = await stack.startFlow('crypto-send', reference, {
      referenceId: reference,
      receiverAddress: '0x3333333333333333333333333333333333333333',
      chain: 'CELO',
      token: 'USDC',
      cryptoAmount: '12.5',
      timeScale: 0.1,
    });
    await handle.executeUpdate('answer');
    return { reference, handle };
  };
  const sendMany = (word: string) => Promise.all(Array.from({ length: AT_ONCE }, () => send(word)));
  const finish = (flows: Awaited<ReturnType<typeof sendMany>>) =>
    Promise.all(
      flows.map(async ({ reference, handle }) => {
        await stack.move(reference, 'SUCCESSFUL');
        return ((await handle.result()) as FlowReport).view.state;
      }),
    );
  const completed = Array.from({ length: AT_ONCE }, () => 'completed');
  const before = await sendMany('before');

  // Everything has both keys, and seals with the new one.
  keyring.give(NEW, OLD);
  const rotating = await openAt(stack.storePath, { keyring: createKeyring([NEW, OLD]) });
  const [during] = await Promise.all([sendMany('during'), rotating.keys.reseal({ epoch: 1 })]);
  const replaced = await rotating.keys.replaced();
  expect(Object.keys(replaced)).toEqual(['old']);
  const histories = await historiesOfKeys(stack.client, NAMESPACE, replaced);
  expect(histories.get('old')?.open).toBeGreaterThanOrEqual(AT_ONCE);
  expect(await finish(before)).toEqual(completed);

  // What processes with the old key first have written until then is sealed again, and they start without it.
  await rotating.keys.reseal({ epoch: 1 });
  expect([...(await rotating.keys.usage()).keys()]).toEqual(['new']);
  await rotating.close();
  await first.shutdown();
  keyring.give(NEW);
  const store = await openAt(stack.storePath, { keyring: createKeyring([NEW]) });
  const second = await stack.worker({ store });
  const after = await sendMany('after');
  expect(await finish([...during, ...after])).toEqual([...completed, ...completed]);

  for (const { reference } of [...before, ...during, ...after]) {
    expect(await stack.executions('sendCrypto', reference)).toBe(1);
    const claim = await store.claims.get({ account: ACCOUNT, operation: 'sendCrypto', reference });
    expect(claim).toMatchObject({ phase: 'answered', answer: expect.anything() });
  }
  await second.shutdown();
  await store.close();
  await stack.close();
});

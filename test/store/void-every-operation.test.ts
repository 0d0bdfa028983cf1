import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { flowIdOf, type FlowKind } from '../../src/protocol/vocabulary.js';
import type { FlowOperationDeps } from '../../src/gateway/flows/deps.js';
import { closeClaims } from '../../src/gateway/ops/close-claims.js';
import type { ClosedAs } from '../../src/api/operations.js';
import type { ClaimKey } from '../../src/store/claim.js';
import type { Store } from '../../src/store/store.js';
import { moneyOf } from '../harness/kind.js';
import { KINDS } from '../harness/kinds.js';
import { makeTemporaryStore, type TemporaryStore } from './temporary-store.js';

const MOVING = KINDS.filter((one) => moneyOf(one) !== null).map(({ kind }) => kind);

/** Those that the driver of the tests orders: the refund of a bridge transfer, too. */
const moneyOperations = (of: FlowKind): ClaimKey[] =>
  KINDS.filter(({ kind }) => kind === of)
    .flatMap(({ ordered }) => ordered('r1'))
    .map(({ operation, reference }) => ({ account: 'default', operation, reference }));

describe('closing the claims of a flow', () => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  const close = (of: FlowKind, as: ClosedAs) => {
    const settings = { serviceAccount: 'default', serviceTimeoutMs: 30_000, timeScale: 1 };
    const deps = { store, settings, nowMs: () => Date.now() } as unknown as FlowOperationDeps;
    const address = { kind: of, reference: 'r1', flowId: flowIdOf(of, 'r1') };
    return closeClaims(deps, address, as, { actor: 'ada', note: 'n' }, () => Promise.resolve());
  };
  /** What an attempt that is late, or of a reset, is given. */
  const attempt = async (of: FlowKind, key: ClaimKey) =>
    (await store.claims.reserve(key, { owner: 'late', flowId: flowIdOf(of, 'r1'), fingerprint: 'f' })).kind;

  it.each(MOVING)(
    'as not executed voids every money operation of %s: no attempt, however late, can pay',
    async (of) => {
      await close(of, 'not-executed');
      for (const key of moneyOperations(of)) expect(await attempt(of, key)).toBe('void');
    },
  );

  it.each(['invoice-payment', 'bridge-transfer'] as const)(
    'as failed voids the claims of %s that were not sent, and leaves those that were answered',
    async (of) => {
      const [first, second] = moneyOperations(of);
      if (first === undefined || second === undefined) throw new Error('it has two money operations');
      await store.claims.reserve(first, { owner: 'a', flowId: flowIdOf(of, 'r1'), fingerprint: 'f' });
      await store.claims.markSending(first, 'a');
      await store.claims.recordAnswer(first, { id: 'x' });
      await close(of, 'failed');
      expect(await attempt(of, first)).toBe('answered');
      expect(await attempt(of, second)).toBe('void');
    },
  );
});

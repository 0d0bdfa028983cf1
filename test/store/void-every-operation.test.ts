import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NO_FOUR_EYES } from '../../src/protocol/four-eyes.js';
import { flowIdOf, type FlowKind, UPDATES } from '../../src/protocol/vocabulary.js';
import type { FlowOperationDeps } from '../../src/gateway/flows/deps.js';
import { flowJson } from '../../src/gateway/flows/flow-json.js';
import { resolveTerminated } from '../../src/gateway/flows/resolve-terminated.js';
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

describe('resolving a terminated flow', () => {
  let temporary: TemporaryStore;
  let store: Store;
  beforeEach(async () => {
    temporary = await makeTemporaryStore('libsql');
    store = await temporary.open();
  });
  afterEach(() => temporary.remove());

  const resolve = (of: FlowKind, action: string) => {
    const flowId = flowIdOf(of, 'r1');
    const parked = { reason: 'terminated', since: '2026-01-01T00:00:00Z', evidence: {} };
    const view = { kind: of, reference: 'r1', flowId, state: 'parked', parked };
    const deps = {
      store,
      settings: { serviceAccount: 'default', fourEyes: NO_FOUR_EYES, serviceTimeoutMs: 30_000, timeScale: 1 },
      nowMs: () => Date.now(),
      reader: { show: () => Promise.resolve(view) },
      logger: { info: () => undefined },
    } as unknown as FlowOperationDeps;
    const ada = { name: 'ada', role: 'operator', means: 'token' } as const;
    const order = { update: UPDATES.resolve, action, content: { action, note: 'n' } };
    const address = { kind: of, reference: 'r1', flowId };
    return resolveTerminated(deps, ada, address, order).then(() => flowJson(deps, view as never));
  };
  /** What an attempt that is late, or of a reset, is given. */
  const attempt = async (of: FlowKind, key: ClaimKey) =>
    (await store.claims.reserve(key, { owner: 'late', flowId: flowIdOf(of, 'r1'), fingerprint: 'f' })).kind;

  it.each(MOVING)(
    'as not executed voids every money operation of %s: no attempt, however late, can pay',
    async (of) => {
      expect(await resolve(of, 'close-not-executed')).toMatchObject({ state: 'failed' });
      for (const key of moneyOperations(of)) expect(await attempt(of, key)).toBe('void');
    },
  );

  it.each(['invoice-payment', 'bridge-transfer'] as const)(
    'as mark-failed voids the claims of %s that were not sent, and leaves those that were answered',
    async (of) => {
      const [first, second] = moneyOperations(of);
      if (first === undefined || second === undefined) throw new Error('it has two money operations');
      await store.claims.reserve(first, { owner: 'a', flowId: flowIdOf(of, 'r1'), fingerprint: 'f' });
      await store.claims.markSending(first, 'a');
      await store.claims.recordAnswer(first, { id: 'x' });
      expect(await resolve(of, 'mark-failed')).toMatchObject({ state: 'failed' });
      expect(await attempt(of, first)).toBe('answered');
      expect(await attempt(of, second)).toBe('void');
    },
  );
});

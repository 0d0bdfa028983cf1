import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { RejectedError } from '../../src/service-client/index.js';
import { StoreUnavailableError } from '../../src/store/store-errors.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { ended, inInbox, openDecisionBench, parked, READING_MS, resolve, TIME_SCALE } from './bench.js';

const refusal = { httpStatus: 400, message: 'limit', fields: [], isRateExpired: false, isAboutReference: false };

describe('a flow that is about to say that nothing moved, while the store is away', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let isQuoted = false;
  beforeAll(async () => {
    decisions = await openDecisionBench((service) => ({
      quoteBridge: (request) =>
        isQuoted ? service.quoteBridge(request) : Promise.reject(new RejectedError('quoteBridge', refusal)),
      sendCrypto: () => Promise.reject(new RejectedError('sendCrypto', refusal)),
    }));
  });
  afterEach(() => vi.restoreAllMocks());
  afterAll(() => decisions.close());

  const away = new StoreUnavailableError('AWAY', 'database');
  const takeAway = () => {
    const { claims, inbox } = decisions.store;
    vi.spyOn(claims, 'ofFlow').mockRejectedValue(away);
    vi.spyOn(inbox, 'list').mockRejectedValue(away);
  };
  const begin = {
    'has no quote': (reference: string) => decisions.bench.start(transferInput(reference, { timeScale: TIME_SCALE })),
    'is over its deadline': (reference: string) =>
      decisions.bench.start(transferInput(reference, { approval: 'required', timeScale: TIME_SCALE, deadlineSeconds: 600 })), // prettier-ignore
    'was refused by the service': (reference: string) =>
      decisions.bench.startFlow('crypto-send', reference, {
        referenceId: reference,
        receiverAddress: '0x1111111111111111111111111111111111111111',
        chain: 'CELO',
        token: 'USDC',
        cryptoAmount: '7.5',
        timeScale: TIME_SCALE,
      }),
  } as const;
  const ENDS = [
    ['has no quote', 'quote_rejected'],
    ['is over its deadline', 'deadline_passed'],
    ['was refused by the service', 'rejected_by_service'],
  ] as const;

  /** Parked, since the store is away. */
  const waiting = async (how: keyof typeof begin) => {
    takeAway();
    isQuoted = how !== 'has no quote';
    const handle = await begin[how](newReference('away'));
    // One of them reads the inbox twice.
    await decisions.bench.pass(2 * READING_MS);
    const view = await parked(handle);
    expect(view.parked).toMatchObject({ reason: 'step_failed', evidence: { why: expect.stringContaining('store') } });
    return handle;
  };

  test.each(ENDS)('parks if it %s, and ends by itself once the store answers', async (how, reason) => {
    const handle = await waiting(how);
    vi.restoreAllMocks();
    expect((await ended(handle)).outcome).toMatchObject({ reason });
  });

  test.each(ENDS)('asks a person if it %s, and the inbox proves otherwise once the store answers', async (how) => {
    const handle = await waiting(how);
    await inInbox(decisions, handle.workflowId, how.startsWith('was') ? 'SUCCESSFUL' : 'COMPLETED');
    vi.restoreAllMocks();
    await untilFlow(handle, ({ view }) => view.parked?.reason === 'conflict');
    await handle.terminate();
  });

  test('is not ended by a person who cannot be told what the inbox holds; and is, once the store answers', async () => {
    const handle = await waiting('has no quote');
    const refused = expect(resolve(handle, 'mark-failed')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('inbox') },
    });
    await decisions.bench.pass(READING_MS);
    await refused;
    expect((await parked(handle)).parked?.reason).toBe('step_failed');
    vi.restoreAllMocks();
    expect((await ended(handle)).outcome).toMatchObject({ reason: 'quote_rejected' });
    expect(await decisions.executions('createBridgeDeposit', handle.workflowId.split('/')[1] ?? '')).toBe(0);
  });
});

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { RejectedError } from '../../src/service-client/index.js';
import type { Repeat } from '../../src/protocol/decisions.js';
import { ACCOUNT } from '../harness/fixed.js';
import { transferInput, trusted } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { entriesOf, openDecisionBench, parked } from './bench.js';

const WINDOW_MS = 100_000;
const TIME_SCALE = 0.01;

describe('a bridge deposit to which the service answers that its rate expired', () => {
  let decisions: Awaited<ReturnType<typeof openDecisionBench>>;
  let setting: Repeat = 'unknown';
  /** Something on the way hands the deposit over twice: the first copy is executed, and uses the rate up. */
  let isDoubled = false;
  /** How often the service says so yet. */
  let expired = 1;
  let sent: { reference: string; rate: unknown }[] = [];
  beforeAll(async () => {
    decisions = await openDecisionBench(
      (service) => ({
        createBridgeDeposit: async (body) => {
          sent.push({ reference: body.provider_reference_id, rate: body.rate_id });
          if (isDoubled && expired > 0) await service.createBridgeDeposit(body);
          if (expired === 0) return service.createBridgeDeposit(body);
          expired -= 1;
          const refusal = { httpStatus: 400, message: 'Rate Expired', fields: [], isAboutReference: false };
          throw new RejectedError('createBridgeDeposit', { ...refusal, isRateExpired: true });
        },
      }),
      { repeatSettingOf: () => setting },
    );
  });
  afterEach(() => decisions.bench.terminateAll());
  afterAll(() => decisions.close());

  const start = async (word: string, repeat: Repeat, doubled: boolean, times = 1) => {
    [setting, isDoubled, expired, sent] = [repeat, doubled, times, []];
    const reference = newReference(word);
    const handle = await decisions.bench.start(
      transferInput(reference, { timeScale: TIME_SCALE, deadlineSeconds: 2_592_000 }),
    );
    const key = { account: ACCOUNT, operation: 'createBridgeDeposit', reference };
    return {
      handle,
      phase: async () => (await decisions.store.claims.get(key))?.phase,
      executions: () => decisions.executions('createBridgeDeposit', reference),
    };
  };

  test.each([false, true])(
    'is not sent again, nor called unsent, when nothing proves that a repeat is safe: a person is asked (executed by a first copy: %s)',
    async (doubled) => {
      const { handle, phase, executions } = await start('parks', 'unknown', doubled);
      const view = await parked(handle);
      expect(view).toMatchObject({ parked: { reason: 'unknown_outcome' }, outcome: null });
      expect(await phase()).toBe('sending');
      expect(sent).toHaveLength(1);
      expect(await executions()).toBe(doubled ? 1 : 0);
      await handle.terminate();
    },
  );

  test.each([false, true])(
    'is sent again with a new quote after the confirmation window, if a repeat is known to be safe: executed once (by a first copy: %s)',
    async (doubled) => {
      const { handle, executions } = await start('repeats', 'same-result', doubled);
      const startedAtMs = Date.parse(
        (await untilFlow(handle, ({ view }) => view.stage === 'outcome-unknown')).view.updatedAt,
      );
      const { view } = await untilFlow(handle, (report) => report.view.stage === 'tracking');
      expect(Date.parse(view.updatedAt) - startedAtMs).toBeGreaterThanOrEqual(60_000 * TIME_SCALE);
      expect(entriesOf(view, 'quoted')).toHaveLength(2);
      expect(new Set(sent.map(({ rate }) => rate)).size).toBe(2);
      expect(await executions()).toBe(1);
      await handle.terminate();
    },
  );

  test('is not sent again against a trusted event, though a repeat is known to be safe: it is followed', async () => {
    const { handle } = await start('event', 'same-result', true);
    await untilFlow(handle, ({ view }) => view.stage === 'outcome-unknown');
    await handle.signal('events', [trusted('DEPOSIT_CONFIRMED')]);
    await untilFlow(handle, ({ view }) => view.stage === 'tracking');
    await decisions.bench.pass(WINDOW_MS);
    expect(sent).toHaveLength(1);
    await handle.terminate();
  });

  test('and to whose repeat it answers the same is not sent a third time: a person is asked', async () => {
    const { handle, phase } = await start('twice', 'same-result', false, 2);
    expect((await parked(handle)).outcome).toBeNull();
    expect(sent).toHaveLength(2);
    expect(await phase()).toBe('sending');
    await handle.terminate();
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { PARK_ACTIONS } from '../../src/flows/vocabulary.js';
import { until } from '../gateway/setup/until.js';
import type { Hold } from './crash-points.js';
import { ACCOUNT } from './fixed.js';
import type { ProcessUnderTest } from './processes.js';
import { endings, openRig, untilShown, type Rig } from './rig.js';
import { newReference, refundedByUsInput, transferInput } from './transfers.js';

/** Flows for each crash point. */
const N = 20;
/** Waits of our own are short; the heartbeat timeout of a submit (10 s) is no such wait and does not scale. */
const QUICK = { timeScale: 0.005, deadlineSeconds: 2_592_000 };
/** Longer than the whole test: whoever waits for such an answer dies waiting. */
const SLOW_MS = 60_000;

/** Where the workers hold flows until they are killed; each word begins the references of one crash point. */
const HELD: readonly Hold[] = [
  { word: 'deposit-unrecorded', moment: 'before', step: 'recordAnswer', operation: 'createBridgeDeposit' },
  { word: 'deposit-reserved', moment: 'after', step: 'reserve', operation: 'createBridgeDeposit' },
  { word: 'deposit-marked', moment: 'after', step: 'markSending', operation: 'createBridgeDeposit' },
  { word: 'refund-unrecorded', moment: 'before', step: 'recordAnswer', operation: 'sendCrypto' },
  { word: 'refund-unmarked', moment: 'before', step: 'markSending', operation: 'sendCrypto' },
  { word: 'refund-unsent', moment: 'before', step: 'post', operation: 'sendCrypto' },
];
/** Held by the sandbox instead: executed, and the answer does not come. */
const IN_FLIGHT = ['deposit-in-flight', 'refund-in-flight'];

interface Group {
  readonly references: readonly string[];
  readonly handles: readonly WorkflowHandle[];
}

/*
 * One disaster for all crash points, since each costs a heartbeat timeout: two workers hold every flow at its point, both
 * are killed at once, and another one finds what they left.
 */
describe(`a worker that is killed around a POST (SIGKILL, ${N} flows at each point)`, () => {
  let rig: Rig;
  const groups = new Map<string, Group>();

  beforeAll(async () => {
    rig = await openRig();
    const doomed = await Promise.all([1, 2].map(() => rig.worker({ holds: HELD, serviceTimeoutMs: 30_000 })));
    for (const word of [...HELD.map((hold) => hold.word), ...IN_FLIGHT]) {
      groups.set(word, await startGroup(word));
    }
    await allHeld(doomed);
    await Promise.all(doomed.map((worker) => worker.kill()));
    await rig.worker();
  }, 120_000);
  afterAll(() => rig.close());

  async function startGroup(word: string): Promise<Group> {
    const references = Array.from({ length: N }, () => newReference(word));
    const isRefund = word.startsWith('refund-');
    if (IN_FLIGHT.includes(word)) {
      const rules = references.map((reference) => ({
        operation: isRefund ? 'sendCrypto' : 'createBridgeDeposit',
        reference: isRefund ? `${reference}.refund` : reference,
        kind: 'slow',
        delayMs: SLOW_MS,
      }));
      await Promise.all(rules.map((rule) => rig.control('POST', '/faults', rule)));
    }
    const inputOf = isRefund ? refundedByUsInput : transferInput;
    const handles = await Promise.all(references.map((reference) => rig.start(inputOf(reference, QUICK))));
    return { references, handles };
  }

  async function allHeld(doomed: readonly ProcessUnderTest[]): Promise<void> {
    const held = () => HELD.map((hold) => doomed.flatMap((worker) => worker.heldAt(hold)).length);
    const inFlight = async () => {
      const executions = await rig.executions();
      const { references: deposits } = group('deposit-in-flight');
      const { references: refunds } = group('refund-in-flight');
      const keys = [
        ...deposits.map((reference) => `createBridgeDeposit ${reference}`),
        ...refunds.map((reference) => `sendCrypto ${reference}.refund`),
      ];
      return keys.filter((key) => executions.has(key)).length;
    };
    await until(
      'every flow to be held at its point',
      async () => held().every((count) => count === N) && (await inFlight()) === 2 * N,
      90_000,
    ).catch(async (error: unknown) => {
      throw new Error(`held: ${held().join(' ')}, in flight: ${await inFlight()}`, { cause: error });
    });
  }

  const group = (word: string): Group => groups.get(word) ?? { references: [], handles: [] };

  /** How often the operation was executed for each reference of a group. */
  async function executionsOf(word: string, operation: string, suffix = ''): Promise<readonly number[]> {
    const executions = await rig.executions();
    return group(word).references.map((reference) => executions.get(`${operation} ${reference}${suffix}`) ?? 0);
  }

  const once = Array.from({ length: N }, () => 1);
  const never = Array.from({ length: N }, () => 0);

  /** The phases in which the claims of a group are. */
  async function claimsOf(word: string, operation: string, suffix = ''): Promise<ReadonlySet<string | undefined>> {
    const keys = group(word).references.map((reference) => ({
      account: ACCOUNT,
      operation,
      reference: reference + suffix,
    }));
    const claims = await Promise.all(keys.map((key) => rig.store.claims.get(key)));
    return new Set(claims.map((claim) => claim?.phase));
  }

  async function ended(word: string) {
    const reports = await endings(group(word).handles);
    const told = (pattern: RegExp) =>
      reports.filter(({ view }) => view.timeline.some(({ detail }) => pattern.test(detail))).length;
    return { states: new Set(reports.map(({ view }) => view.state)), told };
  }

  it.each(['deposit-unrecorded', 'deposit-in-flight'])(
    '%s: an accepted deposit whose answer died with the worker is executed once, and completes by trusted events',
    async (word) => {
      const { states, told } = await ended(word);
      expect(states).toEqual(new Set(['completed']));
      expect([told(/outcome is unknown/), told(/a trusted event proves/), told(/^parked/)]).toEqual([N, N, 0]);
      expect(await claimsOf(word, 'createBridgeDeposit')).toEqual(new Set(['sending']));
      expect(await executionsOf(word, 'createBridgeDeposit')).toEqual(once);
    },
    120_000,
  );

  it.each(['refund-unrecorded', 'refund-in-flight'])(
    '%s: an accepted refund whose answer died with the worker is executed once, and found by its status lookup',
    async (word) => {
      const { states, told } = await ended(word);
      expect(states).toEqual(new Set(['refunded']));
      expect([told(/refund was accepted by the service/), told(/^parked/)]).toEqual([N, 0]);
      expect(await claimsOf(word, 'sendCrypto', '.refund')).toEqual(new Set(['answered']));
      expect(await executionsOf(word, 'sendCrypto', '.refund')).toEqual(once);
      expect(await executionsOf(word, 'createBridgeDeposit')).toEqual(once);
    },
    120_000,
  );

  it('takes over a deposit that was only reserved: sent once, parked 0', async () => {
    const { states, told } = await ended('deposit-reserved');
    expect(states).toEqual(new Set(['completed']));
    expect([told(/outcome is unknown/), told(/^parked/)]).toEqual([0, 0]);
    expect(await executionsOf('deposit-reserved', 'createBridgeDeposit')).toEqual(once);
  }, 120_000);

  it('takes over a refund that was only reserved: sent once, parked 0', async () => {
    const { states, told } = await ended('refund-unmarked');
    expect(states).toEqual(new Set(['refunded']));
    expect(told(/^parked/)).toBe(0);
    expect(await executionsOf('refund-unmarked', 'sendCrypto', '.refund')).toEqual(once);
  }, 120_000);

  it.each([
    { word: 'deposit-marked', operation: 'createBridgeDeposit', suffix: '', reason: 'unknown_outcome' },
    { word: 'refund-unsent', operation: 'sendCrypto', suffix: '.refund', reason: 'refund_unknown' },
  ] as const)(
    '$word: a POST that was marked and never left is not sent by itself, parks as $reason, and is sent once by order',
    async ({ word, operation, suffix, reason }) => {
      const parked = await untilShown(group(word).handles, 'parked', ({ view }) => view.parked);
      expect(new Set(parked.map((found) => found.reason))).toEqual(new Set([reason]));
      expect(parked[0]?.actions).toEqual(PARK_ACTIONS[reason]);
      expect(await executionsOf(word, operation, suffix)).toEqual(never);

      const order = { action: 'send-again', note: 'the service has no such reference', actor: 'ada' };
      await Promise.all(group(word).handles.map((handle) => handle.executeUpdate('resolve', { args: [order] })));
      const { states, told } = await ended(word);
      expect(told(/^parked/)).toBe(N);
      expect(states).toEqual(new Set([operation === 'sendCrypto' ? 'refunded' : 'completed']));
      expect(await executionsOf(word, operation, suffix)).toEqual(once);
    },
    120_000,
  );
});

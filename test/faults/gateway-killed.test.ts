import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { callbackCapability } from '../../src/flows/capability.js';
import type { InboxRow } from '../../src/store/inbox.js';
import { anyFreePort } from '../../src/temporal/free-port.js';
import { until } from '../gateway/setup/until.js';
import type { Hold } from './crash-points.js';
import { openRig, PATIENCE_MS, reportOf, untilShown, type Rig } from './rig.js';
import { newReference, transferInput } from './transfers.js';

/** `KILLED_WEBHOOKS=200` is the whole of it; the default keeps a test run short. */
const PER_POINT = Number(process.env['KILLED_WEBHOOKS'] ?? 10);
/** Webhooks in flight at each kill, each for a flow of its own; half of them end their flow. */
const N = Math.min(PER_POINT, 25);
const ROUNDS = Math.ceil(PER_POINT / N);
const POINTS = ['before-the-row', 'after-the-row', 'after-the-answer', 'after-the-signal'] as const;
type Point = (typeof POINTS)[number];

const HOLDS: Readonly<Record<Point, Omit<Hold, 'word'>>> = {
  'before-the-row': { moment: 'before', step: 'receive' },
  'after-the-row': { moment: 'after', step: 'receive' },
  'after-the-answer': { moment: 'before', step: 'lease' },
  'after-the-signal': { moment: 'before', step: 'markDelivered' },
};
/** By word, since senders of the kill before come again meanwhile. */
const holdOf = (point: Point, word: string): Hold => ({
  ...HOLDS[point],
  word: point === 'after-the-answer' ? '' : word,
});
/** Rows that a gateway was delivering when it died are its own for 10 s. */
const LEASES_OVER_MS = 11_000;

interface Flow {
  readonly reference: string;
  readonly handle: WorkflowHandle;
}

interface Sent extends Flow {
  readonly point: Point;
  readonly status: string;
  /** Answers 2xx so far. */
  readonly taken: () => number;
  readonly done: Promise<void>;
}

describe(`fault 35: a gateway that is killed (SIGKILL) with webhooks under way, ${PER_POINT} at each of four points`, () => {
  let rig: Rig;
  let port: number;
  const sent: Sent[] = [];

  beforeAll(async () => {
    port = await anyFreePort();
    rig = await openRig({ gateway: false, sandbox: { stepMs: 3_600_000 } });
    await rig.worker();
    for (let round = 0; round < ROUNDS; round += 1) {
      const words = POINTS.map((point) => `${point}-${round}`);
      const flows = await Promise.all(words.map(trackedFlows));
      for (const [n, point] of POINTS.entries()) await killAt(point, words[n] ?? '', flows[n] ?? []);
    }
    await rig.gateway({ port, laterMs: LEASES_OVER_MS });
  }, ROUNDS * 120_000);
  afterAll(() => rig.close());

  async function killAt(point: Point, word: string, flows: readonly Flow[]): Promise<void> {
    const hold = holdOf(point, word);
    const gateway = await rig.gateway({ port, holds: [hold] });
    const now = flows.map((flow, n) => sendUntilTaken(point, flow, n % 2 === 0 ? 'COMPLETED' : 'PAYMENT_SENT'));
    sent.push(...now);
    if (point === 'after-the-answer') await Promise.all(now.map(({ done }) => done));
    else await gateway.untilHeld(hold, N);
    const rows = (await Promise.all(now.map(rowsOf))).flat().length;
    await gateway.kill();
    const answered = now.filter(({ taken }) => taken() > 0).length;
    // Else it was not killed where it should have been.
    expect({ point, rows, answered }).toEqual({
      point,
      rows: point === 'before-the-row' ? 0 : N,
      answered: point.endsWith('-row') ? 0 : N,
    });
  }

  it(
    `takes every webhook in the end, and each of the ${POINTS.length * N * ROUNDS} is one row`,
    async () => {
      await Promise.all(sent.map(({ done }) => done));
      const rows = await Promise.all(sent.map(rowsOf));
      expect(rows.map(({ length }) => length)).toEqual(sent.map(() => 1));
    },
    ROUNDS * 120_000,
  );

  it(
    'applies each to its flow exactly once',
    async () => {
      for (const one of sent) {
        const row = await settledRow(one);
        const { view, events } = await reportOf(one.handle);
        expect(events).toEqual({ [row.id]: 'applied' });
        expect(view.timeline.filter(({ detail }) => detail.startsWith(one.status))).toHaveLength(1);
        expect(view.state).toBe(one.status === 'COMPLETED' ? 'completed' : 'running');
      }
    },
    ROUNDS * 120_000,
  );

  it(
    'settles every row as applied, those of flows that ended by them too',
    async () => {
      for (const one of sent)
        expect([one.reference, (await settledRow(one)).state]).toEqual([one.reference, 'applied']);
    },
    ROUNDS * 120_000,
  );

  function settledRow(one: Sent): Promise<InboxRow> {
    return until(
      `${one.reference} to be settled`,
      async () => {
        const [row] = await rowsOf(one);
        return row !== undefined && row.state !== 'waiting' && row.state !== 'delivered' && row;
      },
      PATIENCE_MS,
    );
  }

  async function trackedFlows(word: string): Promise<readonly Flow[]> {
    const flows = await Promise.all(
      Array.from({ length: N }, async () => {
        const reference = newReference(word);
        return { reference, handle: await rig.start(transferInput(reference)) };
      }),
    );
    const handles = flows.map(({ handle }) => handle);
    await untilShown(handles, 'accepted', ({ view }) => view.stage === 'tracking');
    return flows;
  }

  /** A sender as the service is one: it comes again until it was answered 2xx. */
  function sendUntilTaken(point: Point, { reference, handle }: Flow, status: string): Sent {
    const path = `/callbacks/${handle.workflowId}/${callbackCapability(rig.store, handle.workflowId)}`;
    const count = { taken: 0 };
    const post = () =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider_reference_id: reference, status }),
      }).then(
        (answer) => answer.ok,
        () => false,
      );
    const untilTaken = async () => {
      await until(`the webhook of ${reference} to be taken`, post, 2 * PATIENCE_MS);
      count.taken += 1;
    };
    const done = untilTaken();
    done.catch(() => undefined);
    return { point, reference, handle, status, taken: () => count.taken, done };
  }

  function rowsOf({ handle }: Pick<Sent, 'handle'>): Promise<readonly InboxRow[]> {
    return rig.store.inbox.list({ flowId: handle.workflowId });
  }
});

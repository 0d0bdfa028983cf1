import type { WorkflowHandle } from '@temporalio/client';
import { callbackCapability } from '../../src/flows/capability.js';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { until } from '../harness/until.js';
import type { Hold } from './crash-points.js';
import { reportOf, untilShown, type Rig } from './rig.js';
import { newReference } from '../harness/references.js';
import { transferInput } from '../harness/inputs.js';
import type { InboxRow } from '../../src/protocol/events.js';

export const GATEWAY_POINTS = ['before-the-row', 'after-the-row', 'after-the-answer', 'after-the-signal'] as const;
export type GatewayPoint = (typeof GATEWAY_POINTS)[number];

const HOLDS: Readonly<Record<GatewayPoint, Omit<Hold, 'word'>>> = {
  'before-the-row': { moment: 'before', step: 'receive' },
  'after-the-row': { moment: 'after', step: 'receive' },
  'after-the-answer': { moment: 'before', step: 'lease' },
  'after-the-signal': { moment: 'before', step: 'markDelivered' },
};
/** Rows that a gateway was delivering when it died are its own for 10 s. */
const LEASES_OVER_MS = 11_000;

interface Sent {
  readonly point: GatewayPoint;
  readonly reference: string;
  readonly handle: WorkflowHandle;
  readonly status: 'COMPLETED' | 'PAYMENT_SENT';
  /** Answers 2xx so far. */
  readonly taken: () => number;
  readonly done: Promise<void>;
}

/** The state when a gateway died; a different one means that it was not killed at the right moment. */
export interface AtTheKill {
  readonly point: GatewayPoint;
  readonly rows: number;
  readonly answered: number;
}

/** What the books show of one webhook in the end. */
export interface Applied {
  readonly rows: readonly string[];
  /** What the flow made of it. */
  readonly results: readonly string[];
  /** How often the flow's timeline has an event. */
  readonly named: number;
  readonly state: string;
}

export interface KilledGateways {
  readonly atTheKills: readonly AtTheKill[];
  /** Waits until the webhook of each sender was accepted and settled. */
  applied(point: GatewayPoint): Promise<readonly Applied[]>;
}

export const expectedAtTheKill = (point: GatewayPoint, n: number): AtTheKill => ({
  point,
  rows: point === 'before-the-row' ? 0 : n,
  answered: point.endsWith('-row') ? 0 : n,
});

/** Every other webhook ends its flow. */
export const expectedApplied = (n: number): readonly Applied[] =>
  Array.from({ length: n }, (_, turn) => ({
    rows: ['applied'],
    results: ['applied'],
    named: 1,
    state: turn % 2 === 0 ? 'completed' : 'running',
  }));

/**
 * Kills a gateway (SIGKILL) at each point with `n` webhooks in progress there, each of its own flow, `rounds` times.
 * Their senders retry until they are answered 2xx, by any gateway that then runs.
 */
export async function killGateways(rig: Rig, n: number, rounds = 1): Promise<KilledGateways> {
  const port = await anyFreePort();
  await rig.worker();
  const sent: Sent[] = [];
  const atTheKills: AtTheKill[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const point of GATEWAY_POINTS) {
      const now = await killAt(rig, port, point, `${point}-${round}`, n);
      sent.push(...now.sent);
      atTheKills.push(now.atTheKill);
    }
  }
  await rig.gateway({ port, laterMs: LEASES_OVER_MS });
  return {
    atTheKills,
    async applied(point) {
      const applied: Applied[] = [];
      for (const one of sent.filter((other) => other.point === point)) applied.push(await whatIsApplied(rig, one));
      return applied;
    },
  };
}

async function killAt(rig: Rig, port: number, point: GatewayPoint, word: string, n: number) {
  // By word, since senders of the previous kill retry meanwhile.
  const hold: Hold = { ...HOLDS[point], word: point === 'after-the-answer' ? '' : word };
  const flows = await trackedFlows(rig, word, n);
  const gateway = await rig.gateway({ port, holds: [hold] });
  const sent = flows.map((flow, turn) => sendUntilTaken(rig, port, point, flow, turn));
  if (point === 'after-the-answer') await Promise.all(sent.map(({ done }) => done));
  else await gateway.untilHeld(hold, n);
  const rows = (await Promise.all(sent.map((one) => rowsOf(rig, one)))).flat().length;
  await gateway.kill();
  return { sent, atTheKill: { point, rows, answered: sent.filter(({ taken }) => taken() > 0).length } };
}

async function trackedFlows(rig: Rig, word: string, n: number) {
  const flows = await Promise.all(
    Array.from({ length: n }, async () => {
      const reference = newReference(word);
      return { reference, handle: await rig.start(transferInput(reference)) };
    }),
  );
  const handles = flows.map(({ handle }) => handle);
  await untilShown(handles, 'accepted', ({ view }) => view.stage === 'tracking');
  return flows;
}

/** A sender like the service: it retries until it was answered 2xx. */
function sendUntilTaken(
  rig: Rig,
  port: number,
  point: GatewayPoint,
  { reference, handle }: Pick<Sent, 'reference' | 'handle'>,
  turn: number,
): Sent {
  const status = turn % 2 === 0 ? 'COMPLETED' : 'PAYMENT_SENT';
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
    await until(`the webhook of ${reference} to be taken`, post, 600_000);
    count.taken += 1;
  };
  const done = untilTaken();
  done.catch(() => undefined);
  return { point, reference, handle, status, taken: () => count.taken, done };
}

async function whatIsApplied(rig: Rig, one: Sent): Promise<Applied> {
  await one.done;
  const rows = await until(`${one.reference} to be settled`, async () => {
    const found = await rowsOf(rig, one);
    return found.every(({ state }) => state !== 'waiting' && state !== 'delivered') && found;
  });
  const { view, events } = await reportOf(one.handle);
  return {
    rows: rows.map(({ state }) => state),
    results: rows.map(({ id }) => events[id] ?? 'unknown to the flow'),
    named: view.timeline.filter(({ code }) => code === 'event-applied').length,
    state: view.state,
  };
}

function rowsOf(rig: Rig, { handle }: Pick<Sent, 'handle'>): Promise<readonly InboxRow[]> {
  return rig.store.inbox.list({ flowId: handle.workflowId });
}

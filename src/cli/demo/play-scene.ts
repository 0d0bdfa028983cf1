import { setTimeout as sleep } from 'node:timers/promises';
import type { FlowView } from '../../flows/messages.js';
import { flowIdOf, type FlowState } from '../../flows/vocabulary.js';
import { refundReferenceOf } from '../../flows/input.js';
import type { GatewayClient } from '../gateway-client/gateway-client.js';
import { demoInput } from './demo-input.js';
import type { SandboxControl } from './sandbox-control.js';
import type { Scene, Stage } from './scene.js';

/** How a scene ended, for its line and its row. */
export interface Played {
  readonly scene: Scene;
  readonly reference: string;
  readonly flowId: string;
  /** Undefined where the flow could not even be asked about. */
  readonly state: FlowState | undefined;
  readonly deposits: number;
  readonly refunds: number;
  /** What is not as expected; none where all is. */
  readonly flaws: readonly string[];
  readonly tookMs: number;
}

export interface PlayDeps {
  readonly gateway: GatewayClient;
  readonly sandbox: SandboxControl;
  readonly killWorker: () => Promise<void>;
  readonly tell: (line: string) => void;
}

const KIND = 'bridge-transfer';
const PATIENCE_MS = 60_000;
const PAUSE_MS = 50;

/** Plays one scene to its end. Never rejects: what goes wrong is a flaw. */
export async function playScene(scene: Scene, reference: string, deps: PlayDeps): Promise<Played> {
  const { gateway, sandbox } = deps;
  const flowId = flowIdOf(KIND, reference);
  const stage: Stage = { ...deps, reference, flowId, until };
  const startedAtMs = performance.now();
  const flaws: string[] = [];
  let ended: FlowView | undefined;
  try {
    await scene.prepare?.(stage);
    await gateway.start(KIND, JSON.stringify({ ...demoInput(reference), ...scene.input }));
    await scene.meanwhile?.(stage);
    ended = await untilEnded(gateway, flowId);
    const flaw = await scene.flaw?.(stage, ended);
    if (flaw !== undefined) flaws.push(flaw);
  } catch (error) {
    flaws.push((error as Error).message);
    ended ??= await gateway.show(flowId).catch(() => undefined);
  }
  await scene.tidy?.(stage).catch(() => undefined);
  const tookMs = performance.now() - startedAtMs;
  const deposits = await sandbox.executions('createBridgeDeposit', reference).catch(() => 0);
  const refunds = await sandbox.executions('sendCrypto', refundReferenceOf(reference)).catch(() => 0);
  const state = ended?.state;
  if (state !== scene.expected) flaws.unshift(`expected ${scene.expected}`);
  if (deposits !== 1) flaws.push(`the deposit was executed ${deposits} times`);
  if (refunds !== scene.refunds) flaws.push(`our refund was executed ${refunds} times, expected ${scene.refunds}`);
  return { scene, reference, flowId, state, deposits, refunds, flaws, tookMs };
}

/** A parked flow may still be decided by a late event: parked is an end only when the patience is. */
async function untilEnded(gateway: GatewayClient, flowId: string): Promise<FlowView> {
  const endsAtMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const leftMs = Math.max(0, endsAtMs - performance.now());
    const view = await gateway.wait(flowId, Math.ceil(leftMs / 1_000));
    if ((view.state !== 'parked' && view.state !== 'running') || leftMs === 0) return view;
    await sleep(PAUSE_MS * 4);
  }
}

async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const endsAtMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > endsAtMs) throw new Error(`${what} did not come`);
    await sleep(PAUSE_MS);
  }
}

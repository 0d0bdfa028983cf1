import { setTimeout as sleep } from 'node:timers/promises';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flowOf } from '../../flows/index.js';
import type { Flow } from '../../api/flow.js';
import { flowIdOf, refundReferenceOf, type FlowState, type FlowKind } from '../../protocol/vocabulary.js';
import { JsonText } from '../../sdk/index.js';
import { packageRoot } from '../../package-root.js';
import type { GatewayClient } from '../gateway-client.js';
import type { SandboxControl, Executions } from './sandbox-control.js';
import type { Scene, Stage } from './scenes.js';

/** How a scene ended, for its line and its row. */
export interface Played {
  readonly scene: Scene;
  readonly reference: string;
  readonly flowId: string;
  /** Undefined if the flow could not be read. */
  readonly state: FlowState | undefined;
  readonly executed: Executions;
  /** Deviations from what is expected; empty if there are none. */
  readonly flaws: readonly string[];
  readonly tookMs: number;
}

export interface PlayDeps {
  readonly gateway: GatewayClient;
  readonly sandbox: SandboxControl;
  readonly killWorker: () => Promise<void>;
  readonly say: (line: string) => void;
}

/** All waits of Towline (retries, deadlines, the wait for a refund) are shortened by this factor in the demo. */
const TIME_SCALE = 0.02;
/** So that, scaled, a slow machine still ends before it. */
const DEADLINE_SECONDS = 36_000;
const PATIENCE_MS = 60_000;
const PAUSE_MS = 50;

/** Plays one scene to its end. Never rejects: an error becomes a flaw. */
export async function playScene(scene: Scene, reference: string, deps: PlayDeps): Promise<Played> {
  const { gateway, sandbox } = deps;
  const flowId = flowIdOf(scene.kind, reference);
  const stage: Stage = { ...deps, reference, flowId, until };
  const startedAtMs = performance.now();
  const flaws: string[] = [];
  let ended: Flow | undefined;
  try {
    await prepare(scene, stage);
    const waits = { deadlineSeconds: DEADLINE_SECONDS, timeScale: TIME_SCALE };
    const input = { ...(await exampleInput(scene.kind, reference)), ...waits, ...scene.input };
    await gateway.start(scene.kind, new JsonText(JSON.stringify(input)));
    await scene.meanwhile?.(stage);
    ended = await untilEnded(gateway, flowId);
    flaws.push(...(await flawsOf(scene, stage, ended)));
  } catch (error) {
    flaws.push((error as Error).message);
    ended ??= await gateway.show(flowId).catch(() => undefined);
  }
  await scene.tidy?.(stage).catch(() => undefined);
  const tookMs = performance.now() - startedAtMs;
  const state = ended?.state;
  if (state !== scene.expected) flaws.unshift(`expected ${scene.expected}`);
  const executed = await everythingExecuted(sandbox, reference).catch(() => ({}));
  flaws.push(...differences(executed, scene.executes));
  return { scene, reference, flowId, state, executed, flaws, tookMs };
}

async function prepare(scene: Scene, stage: Stage): Promise<void> {
  const { sandbox, reference } = stage;
  const { ending, fault, begunBy } = scene;
  await scene.prepare?.(stage);
  if (ending !== undefined) await sandbox.scenario(reference, ending);
  if (fault !== undefined) {
    const { executed: _, ...rule } = fault;
    await sandbox.fault({ ...rule, reference });
  }
  if (begunBy !== undefined) await sandbox.begin(begunBy(reference));
}

/** Checks what the scene must show besides its ending: a run in which the fault did not happen shows nothing. */
async function flawsOf(scene: Scene, stage: Stage, ended: Flow): Promise<readonly string[]> {
  const { sandbox, gateway, reference, flowId } = stage;
  const { fault, isLookedUp, hides } = scene;
  const flaws: (string | undefined)[] = [await scene.flaw?.(stage, ended)];
  if (fault !== undefined && !(await sandbox.faultsOf(reference)).some(({ executed }) => executed === fault.executed)) {
    flaws.push('the fault did not happen');
  }
  if (isLookedUp && (await gateway.events({ flowId })).events.length > 0) {
    flaws.push('it ended by events, and not by its lookup alone');
  }
  if (hides?.test(JSON.stringify(ended))) flaws.push(`the flow shows ${hides.source}`);
  return flaws.filter((flaw) => flaw !== undefined);
}

/** Under the flow's reference and under that of our own refund. */
async function everythingExecuted(sandbox: SandboxControl, reference: string): Promise<Executions> {
  return { ...(await sandbox.executions(reference)), ...(await sandbox.executions(refundReferenceOf(reference))) };
}

function differences(executed: Executions, expected: Executions): readonly string[] {
  const operations = Object.keys({ ...expected, ...executed });
  return operations
    .filter((operation) => executed[operation] !== expected[operation])
    .map((name) => `${name} was executed ${executed[name] ?? 0} times, expected ${expected[name] ?? 0}`);
}

/** A parked flow may still be decided by a late event: parked is an end only when the patience is. */
async function untilEnded(gateway: GatewayClient, flowId: string): Promise<Flow> {
  const endsAtMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const leftMs = Math.max(0, endsAtMs - performance.now());
    const view = await gateway.wait(flowId, { timeoutMs: leftMs });
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

/** The example of a kind, as in `examples/`, with a reference of its own. */
export async function exampleInput(kind: FlowKind, reference: string): Promise<Record<string, unknown>> {
  const example = await readFile(join(packageRoot(), 'examples', `${kind}.json`), 'utf8');
  return {
    ...(JSON.parse(example) as Record<string, unknown>),
    [flowOf(kind).referenceMember]: reference,
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { failingOf } from '../end-to-end/kinds-at-play.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { createChance } from '../sim/core/chance.js';
import type { World } from './world.js';

/** One flow of the run, before anything of it is done. */
export interface Planned {
  readonly kind: string;
  readonly reference: string;
  readonly input: Record<string, unknown>;
  /** The ending that the service gives to it. */
  readonly ending: { readonly ending: string; readonly operation: string } | undefined;
  /** Why it may stay parked, whatever is done to it. */
  readonly mayPark?: string;
  /** For what begins elsewhere. */
  readonly begunElsewhere: { readonly path: string; readonly body: Readonly<Record<string, unknown>> } | undefined;
}

/** Waits of Towline take a tenth of their time. */
const TIME_SCALE = 0.1;
/** Two and a half minutes of real time: longer than all outages of the run together last for one flow. */
const DEADLINE_SECONDS = 1_500;
/** For flows about which the service never says anything: a minute. */
const MUTE_DEADLINE_SECONDS = 600;
const FAILING = 0.1;
const MUTE = 0.05;
/** Bridge transfers for which the provider reports another amount. */
const CONTRADICTORY = 0.15;
const CONTRADICTION = 'mismatching-amount';
/** The service pays, and sends no callback. */
const MUTE_ENDING = 'no-callbacks-ever';

/** All kinds in turn; a tenth is made to fail, a twentieth gets no callback. The same plan for the same seed. */
export function planFlows(count: number, seed: number): readonly Planned[] {
  const chance = createChance(seed);
  return Array.from({ length: count }, (_, index): Planned => {
    const play = KINDS[index % KINDS.length] as NamedKind;
    const reference = `chaos-${seed}-${index + 1}`;
    const fails = chance.yes(FAILING);
    const isMute = chance.yes(MUTE) && !fails && play.record in play.posts;
    const contradicts = chance.yes(CONTRADICTORY) && play.kind === 'bridge-transfer' && !fails && !isMute;
    const contradiction = contradicts ? CONTRADICTION : undefined;
    const ending = fails ? failingOf(play).ending : isMute ? MUTE_ENDING : contradiction;
    const deadlineSeconds = isMute ? MUTE_DEADLINE_SECONDS : DEADLINE_SECONDS;
    return {
      kind: play.kind,
      reference,
      input: { ...play.input(reference), timeScale: TIME_SCALE, deadlineSeconds },
      ending: ending === undefined ? undefined : { ending, operation: play.record },
      ...(contradiction === undefined ? {} : { mayPark: `the scenario "${contradiction}"` }),
      begunElsewhere: play.begunBy?.(reference),
    };
  });
}

const RETRY_MS = 250;
/** Longer than anything is down. */
const TRIES = 400;

/** A backend service: it writes down what it orders, orders it, and orders the same again until it is answered. */
export async function startPlanned(
  world: World,
  { kind, reference, input, ending, begunElsewhere, mayPark }: Planned,
): Promise<void> {
  if (mayPark !== undefined)
    world.journal.expect({ flowId: `${kind}/${reference}`, state: 'parked', because: mayPark });
  if (ending !== undefined) await control(world, '/scenarios', { reference, ...ending });
  if (begunElsewhere !== undefined) await control(world, begunElsewhere.path, begunElsewhere.body);
  const path = `/flows/${kind}`;
  const body = JSON.stringify(input);
  for (let tries = 1; ; tries += 1) {
    const answer = await world.journal
      .write({ of: 'gateway', method: 'POST', path, body }, () => post(world, path, body))
      .catch(() => undefined);
    if (answer !== undefined && answer.status < 300) return;
    const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429;
    if (isFinal || tries === TRIES) throw new Error(`${kind}/${reference}: ${JSON.stringify(answer ?? 'no answer')}`);
    await sleep(RETRY_MS);
  }
}

async function post(world: World, path: string, body: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(world.gatewayUrl + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${world.token}` },
    body,
    signal: AbortSignal.timeout(15_000),
  });
  return { status: answer.status, body: await answer.json() };
}

/** Retried until the sandbox takes it. If it knows it already (its answer was lost), that is fine. */
async function control(world: World, path: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await world.control('POST', path, body);
      return;
    } catch (error) {
      if (String(error).includes(': 409 ')) return;
      if (tries === TRIES) throw error;
      await sleep(RETRY_MS);
    }
  }
}

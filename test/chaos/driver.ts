import { setTimeout as sleep } from 'node:timers/promises';
import { KINDS_AT_PLAY, type KindAtPlay } from '../end-to-end/kinds-at-play.js';
import { createChance } from '../sim/core/chance.js';
import type { World } from './world.js';

/** One flow of the run, before anything of it is done. */
export interface Planned {
  readonly kind: string;
  readonly reference: string;
  readonly input: Record<string, unknown>;
  /** What the service is told to make of it. */
  readonly ending: { readonly ending: string; readonly operation?: string } | undefined;
  /** For what begins elsewhere. */
  readonly begunElsewhere: Record<string, unknown> | undefined;
}

/** Waits of our own take a tenth of their time. */
const TIME_SCALE = 0.1;
/** Five minutes of real time: longer than every outage of the run together lasts for one flow. */
const DEADLINE_SECONDS = 3_000;
/** Of which the service says nothing, ever: a minute. */
const MUTE_DEADLINE_SECONDS = 600;
const FAILING = 0.1;
const MUTE = 0.05;
/** The service pays, and calls nobody back. */
const MUTE_ENDING = 'no-callbacks-ever';

/** All kinds in turn; a tenth is made to fail, a twentieth gets no callback. The same plan for the same seed. */
export function planFlows(count: number, seed: number): readonly Planned[] {
  const chance = createChance(seed);
  const kinds: readonly (KindAtPlay | 'mobile-money-watch')[] = [...KINDS_AT_PLAY, 'mobile-money-watch'];
  return Array.from({ length: count }, (_, index): Planned => {
    const play = kinds[index % kinds.length] as (typeof kinds)[number];
    const reference = `chaos-${seed}-${index + 1}`;
    const [fails, isMute] = [chance.yes(FAILING), chance.yes(MUTE)];
    const common = { timeScale: TIME_SCALE, deadlineSeconds: isMute ? MUTE_DEADLINE_SECONDS : DEADLINE_SECONDS };
    if (play === 'mobile-money-watch') {
      const begunElsewhere = { referenceId: reference, amount: 1_000.5, currency: 'KES', phoneNumber: '+254712345678' };
      return { kind: play, reference, input: { referenceId: reference, ...common }, ending: undefined, begunElsewhere };
    }
    const { kind, input, failing, operation } = play;
    const scenario = fails ? failing.ending : isMute && kind !== 'kyc-check' ? MUTE_ENDING : undefined;
    const of = operation === undefined ? {} : { operation };
    return {
      kind,
      reference,
      input: { ...input(reference), ...common },
      ending: scenario === undefined ? undefined : { ending: scenario, ...of },
      begunElsewhere: undefined,
    };
  });
}

const RETRY_MS = 250;
/** Longer than anything is down. */
const TRIES = 400;

/** A backend service: it writes down what it orders, orders it, and orders the same again until it is answered. */
export async function startPlanned(
  world: World,
  { kind, reference, input, ending, begunElsewhere }: Planned,
): Promise<void> {
  if (ending !== undefined) await control(world, '/scenarios', { reference, ...ending });
  if (begunElsewhere !== undefined) await control(world, '/mobile-money-deposits', begunElsewhere);
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
  return { status: answer.status, body: (await answer.json()) as unknown };
}

/** Until the sandbox is there to take it. What it knows already (its answer was lost) is what was wanted. */
async function control(world: World, path: string, body: Record<string, unknown>): Promise<void> {
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

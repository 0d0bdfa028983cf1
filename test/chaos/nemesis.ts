import { setTimeout as sleep } from 'node:timers/promises';
import { POST_OF, POST_OF_PATH } from '../end-to-end/reconcile/kinds.js';
import { createChance, type Chance } from '../sim/core/chance.js';
import type { Member } from './processes.js';
import type { World } from './world.js';

/** What the nemesis did, when it was done, and when everything was there again. */
export interface Deed {
  readonly deed: string;
  /** The money POST on the wire at which it was done. */
  readonly atPost: number;
  readonly atMs: number;
  readonly overMs: number;
}

export interface Nemesis {
  readonly deeds: readonly Deed[];
  /** Does no more, and resolves when everything is there again. */
  rest(): Promise<void>;
}

/** Rates, of 1, of the operations that move money; the others meet the errors and the limits alone. */
const FAULTS = [
  { kind: 'error-before', rate: 0.03 },
  { kind: 'error-after', rate: 0.03 },
  { kind: 'answer-lost', rate: 0.05 },
  { kind: 'late-commit', rate: 0.02, delayMs: 1_500 },
  { kind: 'rate-limited', rate: 0.02, retryAfterSeconds: 1 },
  { kind: 'garbage', rate: 0.01, variant: 'truncated' },
] as const;

const ADVERSARY = {
  duplicate: 0.15,
  reorder: 0.2,
  delay: 0.2,
  delayMs: 3_000,
  early: 0.1,
  dropFirst: 0.1,
  mute: 0.05,
};
/** Of each stream: a lie for each genuine message. */
const FORGED = { forged: 1 };

export async function injectFaults({ control }: World): Promise<void> {
  for (const fault of FAULTS) {
    for (const operation of Object.keys(POST_OF)) await control('POST', '/faults', { operation, ...fault });
    if (fault.kind === 'error-before' || fault.kind === 'rate-limited') {
      await control('POST', '/faults', { operation: '*', ...fault });
    }
  }
  await control('POST', '/adversary', { ...ADVERSARY, ...FORGED });
}

export async function healService({ control }: World): Promise<void> {
  await control('DELETE', '/faults');
  await control('POST', '/adversary', {});
}

const POSTS_BETWEEN = { from: 8, to: 20 };
const LOOK_EVERY_MS = 50;

/**
 * Acts by counters: at the nth money POST on the wire, so that a seed nearly repeats. One deed after the other, each over
 * before the next.
 */
export function startNemesis(world: World, seed: number, log: (line: string) => void): Nemesis {
  const chance = createChance(seed ^ 0x5eed);
  const deeds: Deed[] = [];
  const over = new AbortController();
  const acting = act();
  acting.catch(() => undefined);
  return {
    deeds,
    async rest() {
      over.abort();
      await acting;
    },
  };

  async function act(): Promise<void> {
    let nextAt = chance.int(POSTS_BETWEEN.from, POSTS_BETWEEN.to);
    while (!over.signal.aborted) {
      const posts = moneyPosts(world);
      if (posts < nextAt) {
        await sleep(LOOK_EVERY_MS);
        continue;
      }
      const { name, run } = choose(chance, world);
      const atMs = Date.now();
      await run();
      deeds.push({ deed: name, atPost: posts, atMs, overMs: Date.now() });
      log(`at POST ${posts}: ${name} (${((Date.now() - atMs) / 1_000).toFixed(1)} s)`);
      nextAt = moneyPosts(world) + chance.int(POSTS_BETWEEN.from, POSTS_BETWEEN.to);
    }
  }
}

export const moneyPosts = ({ wire }: Pick<World, 'wire'>): number =>
  wire.requests().filter(({ method, path }) => method === 'POST' && path in POST_OF_PATH).length;

interface Chosen {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** As often as the harness of the reliability catalogue wants each, one beside the other. */
function choose(chance: Chance, world: World): Chosen {
  const kill = (member: Member): Chosen => ({
    name: `kill ${member.name}`,
    async run() {
      await member.kill();
      await sleep(chance.int(200, 2_000));
      await member.start();
    },
  });
  const freeze = (member: Member): Chosen => ({
    name: `freeze ${member.name}`,
    async run() {
      member.freeze();
      await sleep(chance.int(5_000, 20_000));
      member.thaw();
    },
  });
  const cut = (name: keyof World['links']): Chosen => ({
    name: `cut the wire to ${name}`,
    async run() {
      world.links[name].cut();
      await sleep(chance.int(2_000, 8_000));
      world.links[name].mend();
    },
  });
  const weighed: readonly (readonly [number, () => Chosen])[] = [
    [6, () => kill(chance.one(world.workers))],
    [4, () => kill(chance.one(world.gateways))],
    [3, () => freeze(chance.one(world.workers))],
    [1, () => freeze(chance.one(world.gateways))],
    [1, () => kill(world.temporal)],
    [1, () => kill(world.sandbox)],
    [2, () => cut('temporal')],
    [1, () => cut('service')],
    [1, () => cut('gateways')],
  ];
  let at = chance.int(
    1,
    weighed.reduce((sum, [weight]) => sum + weight, 0),
  );
  for (const [weight, chosen] of weighed) {
    at -= weight;
    if (at <= 0) return chosen();
  }
  throw new Error('nothing was chosen');
}

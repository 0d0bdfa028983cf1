import { setTimeout as sleep } from 'node:timers/promises';
import { createChance, type Chance } from '../sim/core/chance.js';
import type { Member } from './processes.js';
import { isEvent, isMoneyPost, isOrder, type Watch } from './watch.js';
import type { WireMoment, World } from './world.js';

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
  /** When each process was killed, as soon as it was. */
  kills(): readonly Pick<Deed, 'deed' | 'atMs'>[];
  /** Does no more, and resolves when everything is there again. */
  rest(): Promise<void>;
}

/** One thing that it does. */
interface Plan {
  readonly name: string;
  /** How many of it are in one round. */
  readonly weight: number;
  /** @returns false if its moment did not come */
  readonly run: (chance: Chance, killed: () => void) => Promise<boolean>;
}

const POSTS_BETWEEN = { from: 3, to: 8 };
const LOOK_EVERY_MS = 50;
/** For a moment on the wire. */
const WITHIN_MS = 20_000;

/** Deeds that the harness promises: each crash point of each process. */
export const CRASH_POINTS = [
  'kill worker as its POST leaves',
  'kill worker before its answer arrives',
  'kill worker when its answer has arrived',
  'kill gateway as an event comes',
  'kill gateway before its 2xx leaves',
  'kill gateway when its 2xx has left',
  'kill gateway before it answers an order',
  'kill temporal',
  'kill sandbox',
] as const;

/**
 * Acts by counters, and at moments on the wires, so that a seed nearly repeats. Two workers, one for the product's
 * workers and one for everything else; each does one deed after the other, in rounds in which every deed has its share.
 */
export function startNemesis(world: World, watch: Watch, seed: number, log: (line: string) => void): Nemesis {
  const deeds: Deed[] = [];
  const kills: Pick<Deed, 'deed' | 'atMs'>[] = [];
  const over = new AbortController();
  const hands = [plansForWorkers(world, watch), plansForTheRest(world, watch)].map((plans, hand) =>
    act(plans, createChance(seed ^ (0x5eed + hand))),
  );
  for (const hand of hands) hand.catch(() => undefined);
  return {
    deeds,
    kills: () => kills,
    async rest() {
      over.abort();
      await Promise.all(hands);
    },
  };

  async function act(plans: readonly Plan[], chance: Chance): Promise<void> {
    let round: Plan[] = [];
    let nextAt = chance.int(POSTS_BETWEEN.from, POSTS_BETWEEN.to);
    while (!over.signal.aborted) {
      const posts = watch.moneyPosts();
      if (posts < nextAt) {
        await sleep(LOOK_EVERY_MS);
        continue;
      }
      if (round.length === 0) round = shuffled(plans, chance);
      const plan = round.pop() as Plan;
      const atMs = Date.now();
      if (await plan.run(chance, () => void kills.push({ deed: plan.name, atMs: Date.now() }))) {
        deeds.push({ deed: plan.name, atPost: posts, atMs, overMs: Date.now() });
        log(`at POST ${posts}: ${plan.name} (${((Date.now() - atMs) / 1_000).toFixed(1)} s)`);
      }
      nextAt = watch.moneyPosts() + chance.int(POSTS_BETWEEN.from, POSTS_BETWEEN.to);
    }
  }
}

function shuffled(plans: readonly Plan[], chance: Chance): Plan[] {
  const round = plans.flatMap((plan) => Array.from({ length: plan.weight }, () => plan));
  for (let index = round.length - 1; index > 0; index -= 1) {
    const other = chance.int(0, index);
    const [one, two] = [round[index], round[other]];
    if (one !== undefined && two !== undefined) [round[index], round[other]] = [two, one];
  }
  return round;
}

const pause = (chance: Chance, fromMs: number, toMs: number) => sleep(chance.int(fromMs, toMs));

function plansForWorkers(world: World, watch: Watch): readonly Plan[] {
  const byName = new Map(world.workers.map((worker) => [worker.name, worker]));
  const ofWorker = (moment: WireMoment['moment']) => (seen: WireMoment) =>
    isMoneyPost(seen) && seen.moment === moment && byName.get(seen.who)?.isUp() === true;
  const freezeAt = async (chance: Chance): Promise<boolean> => {
    const frozen = await watch.next(
      ofWorker('answering'),
      async ({ who }) => byName.get(who)?.freeze() ?? who,
      WITHIN_MS,
    );
    const [worker] = world.workers.filter(({ name }) => name === frozen);
    if (worker === undefined) return false;
    await pause(chance, 5_000, 20_000);
    worker.thaw();
    return true;
  };
  return [
    killAt('kill worker as its POST leaves', 2, watch, ofWorker('asked'), byName),
    killAt('kill worker before its answer arrives', 2, watch, ofWorker('answering'), byName),
    killAt('kill worker when its answer has arrived', 2, watch, ofWorker('answered'), byName),
    { name: 'freeze worker with a POST under way', weight: 2, run: freezeAt },
  ];
}

function plansForTheRest(world: World, watch: Watch): readonly Plan[] {
  const byName = new Map(world.gateways.map((gateway) => [gateway.name, gateway]));
  const ofGateway = (isMeant: (seen: WireMoment) => boolean, moment: WireMoment['moment']) => (seen: WireMoment) =>
    isMeant(seen) && seen.moment === moment && byName.get(seen.who)?.isUp() === true;
  const kill = (name: 'temporal' | 'sandbox'): Plan => ({
    name: `kill ${name}`,
    weight: 1,
    async run(chance, killed) {
      await world[name].kill();
      killed();
      await pause(chance, 200, 2_000);
      await world[name].start();
      return true;
    },
  });
  const cut = (name: keyof World['links']): Plan => ({
    name: `cut the wire to ${name}`,
    weight: 1,
    async run(chance) {
      world.links[name].cut();
      await pause(chance, 2_000, 8_000);
      world.links[name].mend();
      return true;
    },
  });
  const freeze: Plan = {
    name: 'freeze gateway',
    weight: 1,
    async run(chance) {
      const gateway = chance.one(world.gateways);
      gateway.freeze();
      await pause(chance, 5_000, 12_000);
      gateway.thaw();
      return true;
    },
  };
  return [
    killAt('kill gateway as an event comes', 1, watch, ofGateway(isEvent, 'asked'), byName),
    killAt('kill gateway before its 2xx leaves', 1, watch, ofGateway(isEvent, 'answering'), byName),
    killAt('kill gateway when its 2xx has left', 1, watch, ofGateway(isEvent, 'answered'), byName),
    killAt('kill gateway before it answers an order', 1, watch, ofGateway(isOrder, 'answering'), byName),
    freeze,
    kill('temporal'),
    kill('sandbox'),
    cut('temporal'),
    cut('service'),
    cut('gateways'),
  ];
}

/** SIGKILL at the next such moment of any process; the same process starts again right after. */
function killAt(
  name: (typeof CRASH_POINTS)[number],
  weight: number,
  watch: Watch,
  isMeant: (seen: WireMoment) => boolean,
  byName: ReadonlyMap<string, Member>,
): Plan {
  return {
    name,
    weight,
    async run(chance, hasKilled) {
      const kill = async ({ who }: WireMoment) => {
        await byName.get(who)?.kill();
        hasKilled();
        return who;
      };
      const killed = await watch.next(isMeant, kill, WITHIN_MS);
      const member = killed === undefined ? undefined : byName.get(killed);
      if (member === undefined) return false;
      await pause(chance, 200, 2_000);
      await member.start();
      return true;
    },
  };
}

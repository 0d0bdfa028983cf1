import { z } from 'zod';
import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { Scenarios } from '../scenarios.js';
import type { Scheduler } from '../scheduler.js';
import { type LiveSettings, Settings, shownSettings } from '../settings.js';
import { BRIDGE_ENDINGS, BRIDGE_MAGIC_AMOUNTS } from '../bridge/endings.js';
import { KINDS } from '../kinds.js';
import { type Endpoint, endpoint } from './endpoint.js';

/** How things are to go from here on: scenarios, settings, time. */
export function createSteerEndpoints(deps: {
  database: Database;
  scenarios: Scenarios;
  settings: LiveSettings;
  clock: Clock;
  scheduler: Scheduler;
}): Endpoint[] {
  const { database, scenarios, settings, clock, scheduler } = deps;
  const time = () => ({ now: clock.iso(), frozen: clock.frozen });

  return [
    endpoint({
      method: 'POST',
      path: '/scenarios',
      summary:
        'Chooses the ending of the operation that will carry this reference: {reference, ending, operation?, times?}',
      input: z.strictObject({
        reference: z.string().min(1),
        /** It may be set before it is known which operation will carry its reference. */
        ending: z.enum(ALL_ENDINGS),
        /** Only for this operation, if several carry one reference. */
        operation: z.enum(CATALOGUE.map(({ operation }) => operation)).optional(),
        times: z.number().int().min(0).optional(),
      }),
      async handle({ input: { reference, ending, operation, times } }) {
        await database.write(() => scenarios.set(reference, { ending, times }, operation));
        return { reference, ending, operation, times };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/scenarios',
      summary: 'Scenarios that were set, all endings, and the magic amounts',
      handle: () => ({
        scenarios: scenarios.list(),
        endings: Object.fromEntries(CATALOGUE.map(({ operation, endings }) => [operation, stories(endings)])),
        magicAmounts: Object.fromEntries(CATALOGUE.map(({ operation, magic }) => [operation, magic])),
      }),
    }),
    endpoint({
      method: 'POST',
      path: '/settings',
      summary: 'Changes settings: {repeatMode?, stepMs?, vocabulary?, errorBody?, webhookUrl?, webhookProfile?, …}',
      input: Settings.partial(),
      handle: ({ input }) => database.write(() => shownSettings(settings.change(defined(input)))),
    }),
    endpoint({
      method: 'POST',
      path: '/clock',
      summary: '{freeze: true}, {advanceMs} (answers when all that fell due is done) or {unfreeze: true}',
      input: z.union([
        z.strictObject({ freeze: z.literal(true) }),
        z.strictObject({ unfreeze: z.literal(true) }),
        z.strictObject({ advanceMs: z.number().int().min(0) }),
      ]),
      async handle({ input }) {
        if ('freeze' in input) clock.freeze();
        else if ('unfreeze' in input) clock.unfreeze();
        else await scheduler.advance(input.advanceMs);
        await database.write(() => clock.keep());
        scheduler.wake();
        return time();
      },
    }),
    endpoint({ method: 'GET', path: '/clock', summary: "The sandbox's own time", handle: time }),
  ];
}

const stories = (endings: Readonly<Record<string, { readonly story: string }>>) =>
  Object.fromEntries(Object.entries(endings).map(([ending, { story }]) => [ending, story]));

function defined<T extends object>(members: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** How one operation can end, and what chooses its endings. */
export interface CatalogueEntry {
  readonly operation: string;
  readonly endings: Readonly<Record<string, { readonly story: string }>>;
  readonly magic: Readonly<Record<string, string>>;
}

/** Every operation that has endings. */
export const CATALOGUE: readonly CatalogueEntry[] = [
  { operation: 'createBridgeDeposit', endings: BRIDGE_ENDINGS, magic: BRIDGE_MAGIC_AMOUNTS },
  ...KINDS.map(({ operation, lifecycle: { endings, magic } }) => ({ operation, endings, magic })),
];

export const ALL_ENDINGS: readonly string[] = [...new Set(CATALOGUE.flatMap(({ endings }) => Object.keys(endings)))];

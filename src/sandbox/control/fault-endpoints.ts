import { z } from 'zod';
import type { Database } from '../database.js';
import type { FaultLog } from '../faults/fault-log.js';
import { type FaultRules, FaultRule } from '../faults/fault-rules.js';
import { type Endpoint, endpoint } from './endpoint.js';

/** Faults between caller and service, and their log. */
export function createFaultEndpoints(deps: { database: Database; rules: FaultRules; log: FaultLog }): Endpoint[] {
  const { database, rules, log } = deps;
  return [
    endpoint({
      method: 'POST',
      path: '/faults',
      summary: 'Adds a fault: {operation, kind, first? | rate?, reference?, skip?, …}',
      input: FaultRule,
      async handle({ input }) {
        return { id: await database.write(() => rules.add(input)), ...input };
      },
    }),
    endpoint({
      method: 'GET',
      path: '/faults',
      summary: 'Faults that are set, and how often each was injected',
      handle: () => ({ faults: rules.list() }),
    }),
    endpoint({
      method: 'DELETE',
      path: '/faults',
      summary: 'Removes every fault; the log stays',
      handle: async () => ({ removed: await database.write(() => rules.remove()) }),
    }),
    endpoint({
      method: 'DELETE',
      path: '/faults/{id}',
      summary: 'Removes one fault',
      handle: async ({ params }) => ({ removed: await database.write(() => rules.remove(Number(params.id))) }),
    }),
    endpoint({
      method: 'GET',
      path: '/faults/log',
      summary: 'What was injected, and whether it was committed: ?operation=&reference=',
      input: z.strictObject({ operation: z.string().optional(), reference: z.string().optional() }),
      handle({ input }) {
        const injections = log.list(input);
        return { count: injections.length, injections };
      },
    }),
  ];
}

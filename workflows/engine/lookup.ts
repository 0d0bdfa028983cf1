import { liveLookupOf } from '../../src/protocol/live-operations.js';
import type { Known } from './known.js';
import type { RequestPlan } from './plan.js';

/** Whether the service can show what became of it: a fact of the run, which its first activity has brought. */
export const hasLookup = ({ prepared }: Known, { lookUp, operation }: RequestPlan): boolean =>
  lookUp === 'own' || (lookUp === 'live' && liveLookupOf(prepared?.pin ?? {}, operation) !== undefined);

import { groupBy } from './group-by.js';
import { at, parsed } from './json.js';
import { POST_OF_PATH, referenceIn } from './kinds.js';
import type { Call } from '../../harness/journal.js';
import type { Witnesses } from './witnesses.js';

/** A flow that the driver ordered, by its own words; what may have been refused, or got no answer, included. */
export interface Order {
  readonly flowId: string;
  readonly input: unknown;
}

export interface Decision {
  readonly flowId: string;
  readonly action: string;
  /** When it was ordered, ISO 8601. */
  readonly at: string;
}

const START = /^\/flows\/([a-z-]+)$/;
const ORDER = /^\/flows\/([a-z-]+)\/([^/]+)\/([a-z-]+)$/;
/** An answer which says that nothing was done. */
const isRefused = ({ answer }: Call) => answer !== undefined && answer.status >= 400 && answer.status < 500;

const posts = (calls: Witnesses['calls']) =>
  calls.filter((call) => call.of === 'gateway' && call.method === 'POST' && !isRefused(call));

/** Ids of the flows that the driver knows of. */
export function startedFlows({ calls }: Pick<Witnesses, 'calls'>): readonly string[] {
  return posts(calls)
    .filter(({ path, answer }) => START.test(path) && (answer?.status ?? 500) < 300)
    .map(({ answer }) => String(at(answer?.body, 'flowId')));
}

/** Flows that were started with these inputs: at `/flows`, or by a request of the service's own interface. */
export function ordersOf({ calls }: Pick<Witnesses, 'calls'>): readonly Order[] {
  return posts(calls).flatMap(({ path, body }): Order[] => {
    const input = parsed(body);
    const kind = START.exec(path)?.[1] ?? POST_OF_PATH[path]?.kind;
    return kind === undefined ? [] : [{ flowId: `${kind}/${String(at(input, referenceIn(kind)))}`, input }];
  });
}

/** How an invoice is paid may be ordered later. */
export function paymentsOf({ calls }: Pick<Witnesses, 'calls'>): readonly Order[] {
  return posts(calls).flatMap(({ path, body }): Order[] => {
    const [, kind, reference = '', word] = ORDER.exec(path) ?? [];
    return word === 'pay' ? [{ flowId: `${kind}/${decodeURIComponent(reference)}`, input: parsed(body) }] : [];
  });
}

/** What the driver decided, as a person does. */
export function decisionsOf({ calls }: Pick<Witnesses, 'calls'>): readonly Decision[] {
  return posts(calls).flatMap(({ path, body, at: orderedAt }): Decision[] => {
    const [, kind, reference = '', word] = ORDER.exec(path) ?? [];
    if (word !== 'resolve') return [];
    const action = String(at(parsed(body), 'action'));
    return [{ flowId: `${kind}/${decodeURIComponent(reference)}`, action, at: orderedAt }];
  });
}

/** How often the driver ordered this of each flow; of that, what it ordered before a moment. */
export function decided(
  witnesses: Pick<Witnesses, 'calls'>,
  action: string,
): (flowId: string, before?: string) => number {
  const byFlow = groupBy(
    decisionsOf(witnesses).filter((decision) => decision.action === action),
    ({ flowId }) => flowId,
  );
  return (flowId, before) => {
    const ordered = byFlow.get(flowId) ?? [];
    return before === undefined ? ordered.length : ordered.filter(({ at: orderedAt }) => orderedAt < before).length;
  };
}

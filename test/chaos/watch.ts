import { POST_OF_PATH } from '../end-to-end/reconcile/kinds.js';
import { referenceIn, referenceOf } from './on-the-wire.js';
import type { WireMoment, World } from './world.js';

/** A moment to act at, and the action: the wire is held until that is over. */
type Awaited = (seen: WireMoment) => Promise<void> | undefined;

/** Everything that is counted and awaited on the wires of a world; there is one such watch. */
export interface Watch {
  /** Money POSTs so far. */
  moneyPosts(): number;
  /** Whether a money POST of this reference was seen. */
  hasSent(reference: string): boolean;
  /** The next matching moment; undefined if none comes in that time. The wire is held until `act` is over. */
  next<T>(
    isMeant: (seen: WireMoment) => boolean,
    act: (seen: WireMoment) => Promise<T>,
    withinMs: number,
  ): Promise<T | undefined>;
  /**
   * Resolves with the time of the first answer about this reference, epoch ms: of its POST or, if the next kill or fault hits
   * that, of a lookup.
   */
  answered(reference: string): Promise<number>;
}

export const isMoneyPost = ({ of, request }: WireMoment): boolean =>
  of === 'service' && request.method === 'POST' && request.path in POST_OF_PATH;

const EVENTS = /^\/(callbacks|webhooks|settlements)\/|\/webhook\/provider\/settlement$/;
export const isEvent = ({ of, request }: WireMoment): boolean =>
  of === 'inbound' && request.method === 'POST' && EVENTS.test(request.path);

export const isOrder = ({ of, request }: WireMoment): boolean =>
  of === 'inbound' && request.method === 'POST' && request.path.startsWith('/flows/');

export function watchWires({ watch }: Pick<World, 'watch'>): Watch {
  const awaited = new Set<Awaited>();
  const answers = new Map<string, (atMs: number) => void>();
  const sent = new Set<string>();
  let posts = 0;
  watch.atWire = (seen) => {
    if (isMoneyPost(seen)) {
      if (seen.moment === 'asked') {
        posts += 1;
        sent.add(referenceIn(seen.request.body));
      }
    }
    if (seen.of === 'service' && seen.moment === 'answered') answers.get(referenceOf(seen.request))?.(Date.now());
    for (const act of awaited) {
      const held = act(seen);
      if (held !== undefined) return held;
    }
    return undefined;
  };
  return {
    moneyPosts: () => posts,
    hasSent: (reference) => sent.has(reference),
    next: (isMeant, act, withinMs) =>
      new Promise((resolve, reject) => {
        const inVain = setTimeout(() => {
          awaited.delete(take);
          resolve(undefined);
        }, withinMs);
        const take: Awaited = (seen) => {
          if (!isMeant(seen)) return undefined;
          clearTimeout(inVain);
          awaited.delete(take);
          const acting = act(seen);
          acting.then(resolve, reject);
          return acting.then(
            () => undefined,
            () => undefined,
          );
        };
        awaited.add(take);
      }),
    answered: (reference) => new Promise((resolve) => answers.set(reference, resolve)),
  };
}

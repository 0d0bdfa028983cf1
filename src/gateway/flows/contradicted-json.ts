import type { ContradictedJson, ContradictionJson } from '../../protocol/gateway-json.js';
import type { Contradiction } from '../../store/matters.js';
import type { Store } from '../../store/store.js';

type Kept = Pick<Store, 'matters' | 'inbox'>;

/** Null: nothing that came after the flow says otherwise. */
export async function contradictedJson(store: Kept, flowId: string): Promise<ContradictedJson | null> {
  const found = (await store.matters.contradictionsOf([flowId])).get(flowId);
  return found === undefined ? null : contradictionsJson(store, found);
}

/** With what each event says. */
export async function contradictionsJson(
  { inbox }: Pick<Kept, 'inbox'>,
  found: readonly Contradiction[],
): Promise<ContradictedJson> {
  const evidence = await Promise.all(
    found.map(async ({ content }): Promise<ContradictionJson> => {
      const { kind, since: at, ended = null, eventId = null, operation = null } = content;
      const event = eventId === null ? undefined : await inbox.get(eventId);
      return { kind, at, ended, eventId, status: event?.status ?? null, proof: event?.proof ?? null, operation };
    }),
  );
  const isOpen = found.some(({ acknowledged }) => acknowledged === null);
  return {
    since: evidence[0]?.at ?? '',
    evidence,
    acknowledged: isOpen ? null : (found.at(-1)?.acknowledged ?? null),
  };
}

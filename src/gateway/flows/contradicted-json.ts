import type { ContradictedJson, ContradictionJson } from '../../api/flow.js';
import type { Contradiction } from '../../store/matters.js';
import type { Store } from '../../store/store.js';

type Kept = Pick<Store, 'matters' | 'inbox'>;

/** Null: nothing that came after the flow says otherwise. */
export async function contradictedJson(store: Kept, flowId: string): Promise<ContradictedJson | null> {
  return (await contradictionsJson(store, [flowId])).get(flowId) ?? null;
}

/** Of each of these flows that something contradicts, with what each event says. */
export async function contradictionsJson(
  { matters, inbox }: Kept,
  flowIds: readonly string[],
): Promise<ReadonlyMap<string, ContradictedJson>> {
  const found = [...(await matters.contradictionsOf(flowIds))];
  const eventIds = found.flatMap(([, ofFlow]) => ofFlow.flatMap(({ content }) => content.eventId ?? []));
  const labels = await inbox.labelsOf(eventIds);
  return new Map(found.map(([flowId, ofFlow]) => [flowId, jsonOf(ofFlow, labels)]));
}

function jsonOf(
  found: readonly Contradiction[],
  labels: Awaited<ReturnType<Kept['inbox']['labelsOf']>>,
): ContradictedJson {
  const evidence = found.map(({ content }): ContradictionJson => {
    const { kind, since: at, ended = null, eventId = null, operation = null } = content;
    const { status = null, proof = null } = labels.get(eventId ?? '') ?? {};
    return { kind, at, ended, eventId, status, proof, operation };
  });
  const isOpen = found.some(({ acknowledged }) => acknowledged === null);
  return {
    since: evidence[0]?.at ?? '',
    evidence,
    acknowledged: isOpen ? null : (found.at(-1)?.acknowledged ?? null),
  };
}

import { flowOf } from '../../flows/index.js';
import { memberOf, namedReference, saysProviderReference } from '../../flows/callback.js';
import { filedWordOf } from '../../flows/event-of-row.js';
import type { FlowDefinition } from '../../flows/flow.js';
import { FLOW_KINDS, type FlowKind, isRefundReference } from '../../protocol/vocabulary.js';
import type { AuditStore } from '../../store/audit.js';
import { isOver, type ClaimStore } from '../../store/claim.js';
import { flowAddress, type FlowAddress } from '../http/flow-path.js';

/** A flow that an account webhook could be about. */
interface Candidate {
  readonly address: FlowAddress;
  readonly definition: FlowDefinition;
  readonly status: string | null;
  /** Its kind has events of this name. */
  readonly named: boolean;
}

/**
 * Finds the flow of an account webhook: its event's name gives the kinds, its reference the flow. If several kinds
 * could own the reference, the claims decide: the service knows a reference only after we sent it, and no byte leaves
 * before its claim is on disk. So this needs no Temporal. An ambiguous webhook is kept as unmatched: the wrong flow
 * must not get it.
 */
export function createWebhookMatch(store: StoreToMatch) {
  return async (body: unknown): Promise<EventLabels> => {
    const candidates = candidatesOf(body);
    return labelsOf(candidates, await theOne(store, candidates.filter(mayHaveIt)));
  };
}

/**
 * Labels a webhook by its content alone. Nothing is read from the store: its sender waits, and gets its 2xx however
 * slow the claims are.
 */
export function labelWebhook(body: unknown): EventLabels {
  // Its flow may not exist yet; an event that is named after an operation which is no deposit is another kind's all the
  // same.
  const event = memberOf(body, 'event');
  const isOther = typeof event === 'string' && NO_DEPOSIT.test(event);
  if (saysProviderReference(body) && !isOther) return labelSettlement(body);
  const candidates = candidatesOf(body);
  const several = candidates.filter(mayHaveIt);
  const [only] = several;
  return several.length > 1 ? { ...labelsOf(candidates, undefined), toMatch: true } : labelsOf(candidates, only);
}

function labelsOf(candidates: readonly Candidate[], found: Candidate | undefined): EventLabels {
  const shown = found ?? candidates[0];
  return {
    flowId: found?.address.flowId ?? null,
    reference: shown?.address.reference ?? null,
    status: shown?.status ?? null,
  };
}

const mayHaveIt = ({ address }: Candidate): boolean => !isRefundReference(address.reference);

function candidatesOf(body: unknown): readonly Candidate[] {
  const name = memberOf(body, 'event');
  const candidates = FLOW_KINDS.flatMap((kind): Candidate[] => {
    const definition = flowOf(kind);
    const reading = definition.readEvent(body);
    const address = flowAddress(kind, namedReference(reading));
    if (address === undefined) return [];
    const named = typeof name === 'string' && definition.webhooks?.includes(name) === true;
    return [{ address, definition, status: filedWordOf(reading), named }];
  });
  // An event name of another kind excludes a kind that lists its names; `transaction.status.updated` may be any's.
  if (!candidates.some(({ named }) => named)) return candidates;
  return candidates
    .filter(({ named, definition }) => named || definition.webhooks === undefined)
    .toSorted((a, b) => Number(b.named) - Number(a.named));
}

interface StoreToMatch {
  readonly claims: Pick<ClaimStore, 'ofFlow' | 'orders'>;
  readonly audit: Pick<AuditStore, 'ownersOf'>;
}

async function theOne(
  { claims, audit }: StoreToMatch,
  candidates: readonly Candidate[],
): Promise<Candidate | undefined> {
  const named = candidates.filter((candidate) => candidate.named);
  const { sent, refuted } = await sentOf(claims, candidates);
  const byName = (some: readonly Candidate[]) => some.filter((candidate) => candidate.named);
  const watched = named.filter(({ definition }) => isWatch(definition));
  // The first of these lists that is not empty decides; if it has several flows, none is chosen.
  const [first] = [byName(sent), byName(refuted), watched, sent, refuted, named, candidates].filter(
    (some) => some.length > 0,
  );
  const [found, another] = first ?? [];
  if (found === undefined || another !== undefined) return undefined;
  // What was started elsewhere under the reference is watched: nothing but a lookup tells the two apart.
  const isWatched = async () => (await audit.ownersOf(watched.map(({ address }) => address.flowId))).size > 0;
  return found.definition.status === undefined && (await isWatched()) ? undefined : found;
}

/**
 * Candidates whose POST was sent, so that the service may know the reference. `refuted`: since then the POST was
 * refused or closed as not executed; an event shows that it was executed after all, unless it belongs to another flow.
 * A flow that only watches has no claim.
 */
async function sentOf(claims: StoreToMatch['claims'], candidates: readonly Candidate[]) {
  const sent: Candidate[] = [];
  const refuted: Candidate[] = [];
  if (candidates.length === 0) return { sent, refuted };
  // In one read: webhooks are matched one after the other.
  for (const claim of await claims.ofFlow(...candidates.map(({ address }) => address.flowId))) {
    const candidate = candidates.find(({ address }) => address.flowId === claim.flowId);
    // A refund has a claim of its flow, under a reference of its own: its events do not belong to the flow.
    if (candidate?.address.reference !== claim.reference || claim.sent === 'nothing') continue;
    const found = isOver(claim.phase) ? refuted : sent;
    if (!found.includes(candidate)) found.push(candidate);
  }
  return { sent, refuted };
}

/** It sends nothing, so it claims nothing. */
function isWatch(definition: FlowDefinition): boolean {
  return definition.status !== undefined && definition.submissions === undefined;
}

const NO_DEPOSIT = /^transaction\.(withdrawal|onramp|offramp)\./;

/** Labels under which the inbox row is filed. */
export interface EventLabels {
  readonly flowId: string | null;
  readonly reference: string | null;
  readonly status: string | null;
  /** Several flows are possible; the claims decide. */
  readonly toMatch?: boolean;
}

/** A callback belongs to the flow of its path, whatever its body says. */
export function labelCallback(kind: FlowKind, reference: string, flowId: string, body: unknown): EventLabels {
  return { flowId, reference, status: filedWordOf(flowOf(kind).readEvent(body)) };
}

/** A settlement names its flow in its body, and is always one of a bridge transfer. */
export function labelSettlement(body: unknown): EventLabels {
  const reading = flowOf('bridge-transfer').readEvent(body);
  const address = flowAddress('bridge-transfer', namedReference(reading));
  return { flowId: address?.flowId ?? null, reference: address?.reference ?? null, status: filedWordOf(reading) };
}

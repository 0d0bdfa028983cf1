import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { canonicalJson } from '../../store/canonical-json.js';
import type { InboxSource, Proof, Receipt, ReceivedEvent } from '../../store/inbox.js';
import type { Store } from '../../store/store.js';
import { errorForLog } from '../http/error-for-log.js';
import { headerValues } from '../http/header-values.js';
import { bodyOf } from '../http/json-body.js';
import type { RateLimit } from '../http/rate-limit.js';
import { Refusal } from '../http/refusal.js';
import { contentOf } from './event-content.js';
import type { EventLabels } from './match-flow.js';
import type { SignatureProfile } from './signature-profile.js';
import { proofOf } from './trust.js';
import { unitsOf } from './unproven.js';

export interface ReceiveDeps {
  readonly store: Pick<Store, 'mac'>;
  /** Into the inbox: durable when it resolves. */
  readonly receive: (event: ReceivedEvent) => Promise<Pick<Receipt, 'kind'>>;
  readonly newEventId: () => string;
  /** Told what became of each arrival, and how long it took. */
  readonly acknowledged?: (source: InboxSource, result: 'stored' | 'duplicate' | 'refused', seconds: number) => void;
  readonly logger: Logger;
  /** For each address, of what it sends without proof. */
  readonly unproven: RateLimit;
}

/** What the door knows of an arriving event. */
export interface Arrival {
  readonly source: InboxSource;
  readonly profile: SignatureProfile;
  readonly acceptedProofs: readonly Proof[];
  readonly capability: boolean;
  readonly network: boolean;
  label(body: unknown): EventLabels | Promise<EventLabels>;
}

const RETRY_AFTER_SECONDS = 5;
const NOT_VALID = 'The signature is not valid.';

/**
 * Signature → trust → a row on disk. Returns only when the row is durable; whoever answers before that loses money.
 * @throws Refusal 401 for a wrong signature, and for one of another time (whose event is kept without proof), 429 for far too much without proof, 503 where the row cannot be made durable
 */
export async function receiveEvent(deps: ReceiveDeps, request: FastifyRequest, arrival: Arrival): Promise<void> {
  const startedMs = performance.now();
  const tell = (result: 'stored' | 'duplicate' | 'refused') =>
    deps.acknowledged?.(arrival.source, result, (performance.now() - startedMs) / 1_000);
  try {
    tell(await storeEvent(deps, request, arrival));
  } catch (error) {
    tell('refused');
    throw error;
  }
}

async function storeEvent(
  deps: ReceiveDeps,
  request: FastifyRequest,
  arrival: Arrival,
): Promise<'stored' | 'duplicate'> {
  const { raw, value } = bodyOf(request);
  const { rawHeaders } = request.raw;
  const verdict = arrival.profile.verify({ raw, header: (name) => headerValues(rawHeaders, name) });
  if (verdict === 'invalid') throw new Refusal(401, NOT_VALID);

  const evidence = { signature: verdict === 'valid', capability: arrival.capability, network: arrival.network };
  // A replay proves nothing, by whichever path it comes; what it says may still hold us back.
  const proof = verdict === 'stale' ? null : proofOf(evidence, arrival.acceptedProofs);
  // Anybody may post to the settlement path: without a limit, anybody could fill the disk.
  if (proof === null) deps.unproven.take(request.ip, unitsOf(raw));
  try {
    const event = {
      id: deps.newEventId(),
      source: arrival.source,
      ...(await arrival.label(value)),
      proof,
      contentHash: deps.store.mac('event', canonicalJson(contentOf(value))),
      body: value,
    };
    const { kind } = await deps.receive(event);
    if (verdict !== 'stale') return kind;
  } catch (error) {
    // Whatever went wrong: without a row there is no 2xx, and the sender comes again.
    deps.logger.error({ requestId: request.id, error: errorForLog(error) }, 'an event could not be stored');
    throw new Refusal(503, 'The event could not be stored. Send it again.', {}, RETRY_AFTER_SECONDS);
  }
  // Whoever can sign it anew is to do so: then it is proven. Nobody else is to learn that it was genuine once.
  throw new Refusal(401, NOT_VALID);
}

import { SpanKind } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { canonicalJson } from '../../store/canonical-json.js';
import type { Receipt } from '../../store/inbox.js';
import type { Store } from '../../store/store.js';
import type { Settings, SettlementTrust, WebhookProfile } from '../../config/settings-shape.js';
import { errorForLog, Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import { bodyOf, headerValues } from '../http/json-body.js';
import type { UnprovenQuota } from '../ops/unproven-quota.js';
import type { Admitted, Sender } from './admission.js';
import type { EventLabels } from './match-webhook.js';
import type { SignatureCheck } from './signatures.js';
import { traced } from '../../tracing.js';
import type { InboxSource, Proof, ReceivedEvent } from '../../protocol/events.js';

export interface ReceiveDeps {
  readonly store: Pick<Store, 'macs'>;
  /** Into the inbox: durable when it resolves. */
  readonly receive: (event: ReceivedEvent) => Promise<Pick<Receipt, 'kind'>>;
  readonly newEventId: () => string;
  /** Called with the result of each arrival, and its duration. */
  readonly acknowledged?: (source: InboxSource, result: 'stored' | 'duplicate' | 'refused', seconds: number) => void;
  readonly logger: Logger;
  /** The disk space that unproven events may use. */
  readonly quota: Pick<UnprovenQuota, 'take'>;
}

/** What the endpoint knows about an arriving event. */
export interface Arrival extends Sender {
  readonly verify: SignatureCheck;
  label(body: unknown): EventLabels;
}

const notValid = () => new Refusal(401, 'The signature is not valid.', { code: 'signature_invalid' });
const OF_ANOTHER_TIME =
  'a genuine signature is of another time, and does not count: a replay; if all are, correct the clock of this machine';

/**
 * Signature → trust → limits → a row on disk. Returns only when the row is durable: an earlier answer could lose money.
 * @throws Refusal 401 for a wrong signature, and for an old one (whose event is kept without proof), 429 for far too
 * much without proof, 503 if the row cannot be made durable
 */
export async function receiveEvent(
  deps: ReceiveDeps,
  request: FastifyRequest,
  arrival: Arrival,
  admitted: Admitted,
): Promise<void> {
  const startedMs = performance.now();
  const acknowledged = (result: 'stored' | 'duplicate' | 'refused') =>
    deps.acknowledged?.(arrival.source, result, (performance.now() - startedMs) / 1_000);
  try {
    acknowledged(await storeEvent(deps, request, arrival, admitted));
  } catch (error) {
    acknowledged('refused');
    throw error;
  }
}

async function storeEvent(
  deps: ReceiveDeps,
  request: FastifyRequest,
  arrival: Arrival,
  admitted: Admitted,
): Promise<'stored' | 'duplicate'> {
  const { raw, read } = bodyOf(request);
  const { rawHeaders } = request.raw;
  const verdict = arrival.verify({ raw, header: (name) => headerValues(rawHeaders, name) });
  if (verdict === 'invalid') {
    admitted.unproven(raw.length);
    throw notValid();
  }
  if (verdict === 'stale') deps.logger.warn({ requestId: request.id, code: 'signature_time' }, OF_ANOTHER_TIME);
  const proofs: readonly Proof[] = verdict === 'valid' ? ['signature', ...arrival.proofs] : arrival.proofs;
  // A replay proves nothing, on any path; its content may still hold us back.
  const proof = verdict === 'stale' ? null : (arrival.acceptedProofs.find((one) => proofs.includes(one)) ?? null);
  // Anyone may post to the settlement path, and could fill the disk without a limit.
  let giveBack: (() => void) | undefined;
  if (proof === null) {
    admitted.unproven(raw.length);
    deps.quota.take(raw.length, admitted.isKnown);
  } else giveBack = admitted.proven(raw.length, proof === 'capability' ? arrival.flowId : undefined);
  const value = await read();
  try {
    const [contentHash = '', ...earlierHashes] = deps.store.macs('event', canonicalJson(contentOf(value)));
    const event = {
      id: deps.newEventId(),
      source: arrival.source,
      ...arrival.label(value),
      proof,
      contentHash,
      earlierHashes,
      body: value,
    };
    const { kind } = await received(deps, event);
    if (kind === 'duplicate') giveBack?.();
    else if (proof !== null) admitted.provenAnew();
    if (verdict !== 'stale') return kind;
  } catch (error) {
    giveBack?.();
    // Whatever went wrong: without a row there is no 2xx, and the sender tries again.
    deps.logger.error({ requestId: request.id, error: errorForLog(error) }, 'an event could not be stored');
    throw new Refusal(
      503,
      'The event could not be stored. Send it again.',
      { code: 'store_unavailable' },
      RETRY_AFTER_SECONDS,
    );
  }
  // Its sender can sign it again: then it is proven. Others must not learn that it was genuine once.
  throw notValid();
}

/** Stores the event, in the trace of the flow that its URL names. */
function received({ receive }: ReceiveDeps, event: ReceivedEvent): ReturnType<ReceiveDeps['receive']> {
  const { flowId, source, proof } = event;
  if (flowId === null) return receive(event);
  const attributes = { 'towline.source': source, 'towline.proof': proof ?? 'none' };
  return traced({ name: 'receive event', flowId, kind: SpanKind.SERVER, attributes }, () => receive(event));
}

/**
 * The content by which a repeated event is recognised. The member `signature` of the body itself is not part of it: two
 * secrets sign one event in two ways, and no signature covers that member, so that it could make any number of new events
 * of a genuine one.
 */
function contentOf(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { signature: _signature, ...content } = body as Record<string, unknown>;
  return content;
}

/** What proves, by each setting, that a settlement comes from the provider. Others are stored as untrusted. */
export const SETTLEMENT_PROOFS: Readonly<Record<SettlementTrust, readonly Proof[]>> = {
  corroborated: ['signature', 'capability', 'network', 'corroborated', 'person'],
  signed: ['signature', 'person'],
  network: ['signature', 'network', 'person'],
};

/**
 * What proves, by each profile, that a callback or account webhook comes from the service. A URL ends up in the logs of
 * proxies: if the service can sign, its capability alone proves nothing, unless the settings say that the service does
 * not sign its callbacks.
 */
export function serviceProofs(
  { webhookProfile, serviceSignsCallbacks }: Pick<Settings, 'webhookProfile' | 'serviceSignsCallbacks'>,
  source: 'callback' | 'webhook',
  canSign: boolean,
): readonly Proof[] {
  const mustSign = webhookProfile === 'auto' && canSign && (source === 'webhook' || serviceSignsCallbacks);
  return SERVICE_PROOFS[mustSign ? 'standard-webhooks' : webhookProfile];
}

const SERVICE_PROOFS: Readonly<Record<WebhookProfile, readonly Proof[]>> = {
  auto: ['signature', 'capability', 'person'],
  unsigned: ['capability', 'person'],
  'standard-webhooks': ['signature', 'person'],
  'raw-hmac': ['signature', 'person'],
  'json-hmac': ['signature', 'person'],
};

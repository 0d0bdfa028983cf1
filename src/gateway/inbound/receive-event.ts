import { SpanKind } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { canonicalJson } from '../../store/canonical-json.js';
import type { Receipt } from '../../store/inbox.js';
import type { Store } from '../../store/store.js';
import type { Settings, SettlementTrust, WebhookProfile } from '../../config/settings-shape.js';
import { errorForLog, Refusal, RETRY_AFTER_SECONDS } from '../http/refusal.js';
import { unreadBodyOf } from '../http/json-body.js';
import type { UnprovenQuota } from '../ops/unproven-quota.js';
import type { Admission } from './admission.js';
import type { EventLabels } from './match-webhook.js';
import type { SignatureProfile } from './signatures.js';
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
  readonly admission: Admission;
  /** The disk space that unproven events may use. */
  readonly quota: Pick<UnprovenQuota, 'take'>;
}

/** What the endpoint knows about an arriving event. */
export interface Arrival {
  readonly source: InboxSource;
  readonly profile: SignatureProfile;
  readonly acceptedProofs: readonly Proof[];
  readonly capability: boolean;
  readonly network: boolean;
  /** The flow that its URL names. */
  readonly flowId?: string;
  label(body: unknown): EventLabels;
}

const NOT_VALID = 'The signature is not valid.';
const OF_ANOTHER_TIME =
  'a genuine signature is of another time, and does not count: a replay; if all are, correct the clock of this machine';

/**
 * Signature → trust → limits → a row on disk. Returns only when the row is durable: an earlier answer could lose money.
 * @throws Refusal 401 for a wrong signature, and for an old one (whose event is kept without proof), 429 for far too
 * much without proof, 503 if the row cannot be made durable
 */
export async function receiveEvent(deps: ReceiveDeps, request: FastifyRequest, arrival: Arrival): Promise<void> {
  const startedMs = performance.now();
  const acknowledged = (result: 'stored' | 'duplicate' | 'refused') =>
    deps.acknowledged?.(arrival.source, result, (performance.now() - startedMs) / 1_000);
  try {
    acknowledged(await storeEvent(deps, request, arrival));
  } catch (error) {
    acknowledged('refused');
    throw error;
  }
}

async function storeEvent(
  deps: ReceiveDeps,
  request: FastifyRequest,
  arrival: Arrival,
): Promise<'stored' | 'duplicate'> {
  const { raw, read } = unreadBodyOf(request);
  const { rawHeaders } = request.raw;
  const verdict = arrival.profile.verify({ raw, header: (name) => headerValues(rawHeaders, name) });
  const hasProof = arrival.capability || arrival.network;
  if (verdict === 'invalid') {
    deps.admission.unproven(request, hasProof, raw.length);
    throw new Refusal(401, NOT_VALID, { code: 'signature_invalid' });
  }
  const evidence = { signature: verdict === 'valid', capability: arrival.capability, network: arrival.network };
  if (verdict === 'stale') deps.logger.warn({ requestId: request.id, code: 'signature_time' }, OF_ANOTHER_TIME);
  // A replay proves nothing, on any path; its content may still hold us back.
  const proof = verdict === 'stale' ? null : proofOf(evidence, arrival.acceptedProofs);
  // Anyone may post to the settlement path, and could fill the disk without a limit.
  let giveBack: (() => void) | undefined;
  if (proof === null) {
    deps.admission.unproven(request, hasProof, raw.length);
    deps.quota.take(raw.length, deps.admission.isKnown(request, hasProof));
  } else {
    const flowId = proof === 'capability' ? arrival.flowId : undefined;
    if (flowId !== undefined) giveBack = deps.admission.byUrlAlone(flowId, raw.length);
    deps.admission.proven(request, flowId !== undefined);
  }
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
    else if (proof !== null) deps.admission.provenAnew(request);
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
  throw new Refusal(401, NOT_VALID, { code: 'signature_invalid' });
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

/** The evidence of an event, collected at the endpoint. */
interface Evidence {
  readonly signature: boolean;
  readonly capability: boolean;
  readonly network: boolean;
}

/** The strongest accepted proof, or null: then the event is kept as unverified. */
function proofOf(evidence: Evidence, accepted: readonly Proof[]): Proof | null {
  const found = (['signature', 'capability', 'network'] as const).filter((proof) => evidence[proof]);
  return found.find((proof) => accepted.includes(proof)) ?? null;
}

/**
 * Every value of a header, in order: two values may be a trick. Looked up by name, since sorting out all headers of
 * each request takes longer than checking its signature.
 *
 * @param rawHeaders names and values in turn, as Node gives them
 * @param name in lower case
 */
export function headerValues(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const found = rawHeaders[index] ?? '';
    if (found.length === name.length && found.toLowerCase() === name) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}

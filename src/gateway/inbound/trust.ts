import type { SettlementTrust, WebhookProfile } from '../../config/settings-shape.js';
import type { Proof } from '../../store/inbox.js';

/** What each setting takes as proof that a settlement comes from the provider. Everything else is stored, untrusted. */
export const SETTLEMENT_PROOFS: Readonly<Record<SettlementTrust, readonly Proof[]>> = {
  corroborated: ['signature', 'capability', 'network', 'corroborated', 'person'],
  signed: ['signature', 'person'],
  network: ['signature', 'network', 'person'],
};

/** What each profile takes as proof that a callback or account webhook comes from the service. */
export const SERVICE_PROOFS: Readonly<Record<WebhookProfile, readonly Proof[]>> = {
  auto: ['signature', 'capability', 'person'],
  unsigned: ['capability', 'person'],
  'standard-webhooks': ['signature', 'person'],
  'raw-hmac': ['signature', 'person'],
  'json-hmac': ['signature', 'person'],
};

/** What an event brought along, found at the door. */
export interface Evidence {
  readonly signature: boolean;
  readonly capability: boolean;
  readonly network: boolean;
}

/** The strongest proof that is accepted, or null: then the event is kept as unverified. */
export function proofOf(evidence: Evidence, accepted: readonly Proof[]): Proof | null {
  const found = (['signature', 'capability', 'network'] as const).filter((proof) => evidence[proof]);
  return found.find((proof) => accepted.includes(proof)) ?? null;
}

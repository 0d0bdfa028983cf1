import type { InboxFact } from './witnesses.js';

/** A row as SQL gives it. */
export interface StoredRow extends Pick<InboxFact, 'id' | 'flowId' | 'status' | 'state' | 'source' | 'repeats'> {
  readonly proof: string | null;
  readonly sealed: Uint8Array | ArrayBuffer | null;
}

export const CLAIMS = 'SELECT operation, reference, phase, flow_id AS "flowId" FROM claims';
export const ORDERS = 'SELECT operation, reference, action FROM claim_orders';
export const INBOX = `SELECT id, source, flow_id AS "flowId", status, state, proof, body AS sealed, repeats FROM inbox`;

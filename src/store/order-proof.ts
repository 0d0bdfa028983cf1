import { timingSafeEqual } from 'node:crypto';
import type { OrderProof } from '../protocol/messages.js';
import { canonicalJson } from './canonical-json.js';
import type { StoreKey } from './store-key.js';

/** An order on its way to a flow, by an update of this name. */
export interface OrderToFlow {
  readonly flowId: string;
  readonly update: string;
  readonly order: { readonly actor: string; readonly proof?: OrderProof };
}

/*
 * Anyone who may write to the Temporal namespace can send an update and name any actor. A gateway has checked a token,
 * so it signs what it sends with a MAC under the store's key, which no Temporal client has, over flow, update, actor
 * and content.
 */

/** @param second who confirmed it, if two are needed */
export function proofOfOrder(
  store: Pick<StoreKey, 'mac'>,
  sent: OrderToFlow,
  { id, second }: Pick<OrderProof, 'id' | 'second'>,
): OrderProof {
  return { id, second, mac: store.mac('order', textOf(sent, { id, second })) };
}

/** Whether a gateway of this store sent exactly this order for this flow. */
export function isProven(store: Pick<StoreKey, 'macs'>, sent: OrderToFlow): boolean {
  const { proof } = sent.order;
  if (typeof proof !== 'object' || proof === null) return false;
  const { id, second, mac } = proof;
  if (typeof id !== 'string' || typeof mac !== 'string' || (second !== null && typeof second !== 'string'))
    return false;
  const given = Buffer.from(mac, 'utf8');
  const expected = store.macs('order', textOf(sent, { id, second }));
  return expected.some((one) => one.length === given.length && timingSafeEqual(Buffer.from(one, 'utf8'), given));
}

function textOf({ flowId, update, order }: OrderToFlow, { id, second }: Pick<OrderProof, 'id' | 'second'>): string {
  const { proof: _proof, ...content } = order;
  return canonicalJson({ flowId, update, id, second, order: content });
}

import { randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Headers of a delivery, made by the public package: a foreign signer. */
export function signed(secret: string, body: string, options: { atMs?: number; id?: string } = {}) {
  const at = new Date(options.atMs ?? Date.now());
  const id = options.id ?? `msg_${randomUUID()}`;
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

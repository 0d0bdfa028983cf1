import { Webhook } from 'standardwebhooks';

export interface Signer {
  /** `signed` is what the signature covers; a tampered copy sends another body with it. */
  headers(webhookId: string, signed: string): Record<string, string>;
}

/**
 * Standard Webhooks. Its timestamp is the wall clock's, not the sandbox's: receivers refuse one that is five minutes
 * off, and a test that moved the sandbox's clock by an hour would hear nothing any more.
 */
export function createSigner(secret: string, wallNow: () => number): Signer {
  const webhook = new Webhook(secret);
  return {
    headers(webhookId, signed) {
      const at = new Date(wallNow());
      return {
        'webhook-id': webhookId,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': webhook.sign(webhookId, at, signed),
      };
    },
  };
}

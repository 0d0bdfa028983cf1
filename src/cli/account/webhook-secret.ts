import { randomBytes } from 'node:crypto';

const SHORTEST = 16;
const STANDARD = /^whsec_(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** 256 bits, in the form of Standard Webhooks. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Why a gateway could not take this secret in WEBHOOK_SECRETS; undefined where it can. */
export function secretProblem(secret: string): string | undefined {
  if (secret.length < SHORTEST) return `must have at least ${SHORTEST} characters`;
  if (/[,\s]/.test(secret)) return 'must have no comma and no space, since WEBHOOK_SECRETS is a list';
  if (secret.startsWith('whsec_') && !STANDARD.test(secret)) return 'must go on in base64 after "whsec_"';
  return undefined;
}

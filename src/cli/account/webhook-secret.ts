import { randomBytes } from 'node:crypto';
import countries from 'i18n-iso-countries';
import type { z } from 'zod';
import {
  MIN_SECRET_LENGTH,
  readKeptSecrets,
  STANDARD_SECRET,
  writeKeptSecrets,
  type KeptSecret,
} from '../../config/index.js';
import { withFileLock } from '../../dev-server/file-lock.js';
import { IntegratorRequest, WebhookUpdateRequest } from '../../contract/account.js';
import { countryCode, isPhoneNumber, LOCAL_PHONE_PROBLEM } from '../../flows/input.js';
import { CliError } from '../exit-codes.js';
import { wasNotDone } from './account-call.js';

/** 256 bits, in the form of Standard Webhooks. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** Why a gateway could not accept this secret in WEBHOOK_SECRETS; undefined if it could. */
function secretProblem(secret: string): string | undefined {
  if (secret.length < MIN_SECRET_LENGTH) return `must have at least ${MIN_SECRET_LENGTH} characters`;
  if (/[,\s]/.test(secret)) return 'must have no comma and no space, since WEBHOOK_SECRETS is a list';
  if (secret.startsWith('whsec_') && !STANDARD_SECRET.test(secret)) return 'must go on in base64 after "whsec_"';
  return undefined;
}

export interface SecretChange {
  /** Of the file that the gateways of this home follow. */
  readonly path: string;
  readonly secret: string;
  /** `WEBHOOK_SECRETS`. */
  readonly fromSetting: readonly string[];
  /**
   * How long the old secrets remain valid after the service has accepted the new one, ms; undefined: without an end.
   */
  readonly overlapMs: number | undefined;
  readonly nowMs: () => number;
}

/**
 * Sends a new webhook secret so that no event is refused meanwhile: the gateways accept it before the service has it,
 * and the old ones remain valid for a while after. If the service did not accept it, everything stays as before; if
 * that is unknown, both remain valid without an end.
 */
export function changeSecret<T>(change: SecretChange, send: () => Promise<T>): Promise<T> {
  const { path, secret, overlapMs, nowMs } = change;
  return withFileLock(`${path}.lock`, async () => {
    const before = readKeptSecrets(path);
    const others = before.filter((kept) => kept.secret !== secret);
    const fresh: KeptSecret = { secret, until: null };
    writeKeptSecrets(path, [fresh, ...others]);
    let answer: T;
    try {
      answer = await send();
    } catch (error) {
      if (wasNotDone(error)) writeKeptSecrets(path, before);
      throw error;
    }
    if (overlapMs !== undefined) {
      const until = new Date(nowMs() + overlapMs).toISOString();
      const old = change.fromSetting
        .filter((one) => one !== secret && !others.some((kept) => kept.secret === one))
        .map((one): KeptSecret => ({ secret: one, until: null }));
      const ending = [...others, ...old].map((kept) => ({ ...kept, until: earlier(kept.until, until) }));
      writeKeptSecrets(path, [fresh, ...ending.filter((kept) => isNeeded(kept, change))]);
    }
    return answer;
  });
}

const earlier = (left: string | null, right: string): string => (left !== null && left < right ? left : right);

/** An expired secret is kept only if it is still in the setting: without its entry it would become valid again. */
function isNeeded({ secret, until }: KeptSecret, { fromSetting, nowMs }: SecretChange): boolean {
  return until === null || Date.parse(until) > nowMs() || fromSetting.includes(secret);
}

const Account = IntegratorRequest.extend({ country_code: countryCode() }).refine(
  ({ phone, country_code: where }) => isPhoneNumber(phone, countries.toAlpha2(where.toUpperCase())),
  { path: ['phone'], message: LOCAL_PHONE_PROBLEM },
);

/** The account in a form that can be sent. Errors name the member, never its value. @throws CliError */
export const checkIntegrator = (given: unknown): IntegratorRequest => checked(Account, given);

/** @throws CliError */
export const checkWebhookUpdate = (given: unknown): WebhookUpdateRequest => checked(WebhookUpdateRequest, given);

function checked<T extends { webhook_secret?: string | undefined }>(schema: z.ZodType<T>, given: unknown): T {
  const found = schema.safeParse(given);
  const problems = found.success ? [] : found.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  const secret = found.data?.webhook_secret;
  const problem = secret === undefined ? undefined : secretProblem(secret);
  if (problem !== undefined) problems.push(`webhook_secret: ${problem}`);
  if (found.success && problem === undefined) return found.data;
  throw new CliError(
    ['The input cannot be sent. Nothing was sent.', ...problems.map((line) => `  ${line}`)].join('\n'),
  );
}

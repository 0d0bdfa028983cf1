import countries from 'i18n-iso-countries';
import type { z } from 'zod';
import { IntegratorRequest, WebhookUpdateRequest } from '../../contract/account.js';
import { country } from '../../flows/country.js';
import { isPhoneNumber, LOCAL_PHONE_PROBLEM } from '../../flows/local-phone-number.js';
import { CliError } from '../cli-error.js';
import { secretProblem } from './webhook-secret.js';

const Account = IntegratorRequest.extend({ country_code: country() }).refine(
  ({ phone, country_code: where }) => isPhoneNumber(phone, countries.toAlpha2(where.toUpperCase())),
  { path: ['phone'], message: LOCAL_PHONE_PROBLEM },
);

/** The account as it can be sent. What is wrong is named by member, never by value. @throws CliError */
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

import { z } from 'zod';
import { defineOperation } from './operation.js';
import { flag, record, text, word } from './reading.js';
import { urlToSend } from './sending.js';
import { WEBHOOK_EVENTS } from './vocabulary.js';

export const VerifyHumanRequest = z.strictObject({ verificationToken: z.string().min(1) });
export type VerifyHumanRequest = z.infer<typeof VerifyHumanRequest>;

/** Contains two bearer secrets: never log it, never let it cross a Temporal boundary. */
export const AuthSession = record(
  { user_id: text(), session_id: text(), token_id: text(), token: text(), refresh_token: text() },
  ['token'],
);
export type AuthSession = z.infer<typeof AuthSession>;

/** Holds a bearer secret. */
export const ApiKey = record({ key: text() }, ['key']);
export type ApiKey = z.infer<typeof ApiKey>;

export const IntegratorRequest = z.strictObject({
  organization: z.string().min(1),
  product_name: z.string().min(1),
  first_name: z.string().min(1),
  last_name: z.string().min(1),
  email: z.string().min(1),
  phone: z.string().min(1),
  /** ISO-2 or ISO-3; the service converts it to ISO-2. */
  country_code: z.string().regex(/^[A-Za-z]{2,3}$/, 'must be an ISO-2 or ISO-3 country code'),
  webhook_url: urlToSend().optional(),
  webhook_secret: z.string().min(1).optional(),
  webhook_events: z.array(z.enum(WEBHOOK_EVENTS)).optional(),
});
export type IntegratorRequest = z.infer<typeof IntegratorRequest>;

export const WebhookUpdateRequest = z.strictObject({
  webhook_url: urlToSend().optional(),
  webhook_secret: z.string().min(1).optional(),
  webhook_events: z.array(z.enum(WEBHOOK_EVENTS)).optional(),
});
export type WebhookUpdateRequest = z.infer<typeof WebhookUpdateRequest>;

/** The webhook secret is accepted on input and omitted here. An empty `webhook_events` means all. */
export const Integrator = record(
  {
    id: text(),
    organization: text(),
    first_name: text(),
    last_name: text(),
    email: text(),
    phone: text(),
    webhook_url: text(),
    webhook_events: z.array(word(WEBHOOK_EVENTS)),
  },
  ['id'],
);
export type Integrator = z.infer<typeof Integrator>;

/** The interface does not show the status words of KYC records. */
export const KycStatus = record({ status: text(), kycId: text(), kycStatus: flag() }, ['status']);
export type KycStatus = z.infer<typeof KycStatus>;

export const verifyHuman = defineOperation({
  name: 'verifyHuman',
  method: 'POST',
  path: '/api/v3/auth/human-verify',
  auth: 'none',
  effect: 'account',
  body: VerifyHumanRequest,
  example: { verificationToken: 'token-of-the-widget' },
  data: AuthSession,
  summary: 'Completes human verification for a magic link request that was flagged as suspicious.',
  section: 'Authentication and account',
});

/** A GET by the interface, and yet not a read: each call may make a new key. */
export const createApiKey = defineOperation({
  name: 'createApiKey',
  method: 'GET',
  path: '/api/v3/auth/api-key/secure',
  auth: 'bearer',
  effect: 'account',
  data: ApiKey,
  summary: 'Generates an API key that can be used to authorize transactions and more.',
  section: 'Authentication and account',
});

export const createIntegrator = defineOperation({
  name: 'createIntegrator',
  method: 'POST',
  path: '/api/v3/integrator',
  auth: 'none',
  effect: 'account',
  body: IntegratorRequest,
  example: {
    organization: 'Example Ltd',
    product_name: 'Example Pay',
    first_name: 'Thandi',
    last_name: 'Example',
    email: 'thandi@shop.example',
    phone: '+27821234567',
    country_code: 'ZA',
    webhook_url: 'https://towline.shop.example/webhooks/capability',
  },
  data: Integrator,
  summary: 'Creates an integrator account.',
  section: 'Authentication and account',
});

export const updateWebhook = defineOperation({
  name: 'updateWebhook',
  method: 'PATCH',
  path: '/api/v3/integrator/webhook',
  auth: 'bearer',
  effect: 'account',
  body: WebhookUpdateRequest,
  example: { webhook_url: 'https://towline.shop.example/webhooks/capability', webhook_events: [] },
  data: Integrator,
  summary: "Updates the integrator's webhook URL, secret and event subscriptions.",
  section: 'Authentication and account',
});

export const getKycStatus = defineOperation({
  name: 'getKycStatus',
  method: 'GET',
  path: '/api/v3/kyc/status/{kycId}',
  param: 'kycId',
  auth: 'bearer',
  effect: 'read',
  data: KycStatus,
  summary: 'Reads the status of a KYC record.',
  section: 'Authentication and account',
});

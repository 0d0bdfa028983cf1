import {
  accountName,
  capability,
  each,
  epochs,
  flag,
  httpUrl,
  maxAmounts,
  oneOf,
  seconds,
  secrets,
  serviceToken,
  whole,
  words,
} from '../setting-schemas.js';
import { duplicateReference } from '../duplicate-reference.js';
import { serviceProfile } from '../service-profile.js';
import { networks } from '../networks.js';
import type { SettingGroup } from './setting.js';

export const WEBHOOK_PROFILES = ['auto', 'standard-webhooks', 'raw-hmac', 'json-hmac', 'unsigned'] as const;
export const SETTLEMENT_TRUSTS = ['corroborated', 'signed', 'network'] as const;

export const SERVICE = {
  serviceBaseUrl: {
    name: 'SERVICE_BASE_URL',
    schema: httpUrl().optional(),
    derived: 'the sandbox, which is then started as well',
    sentence: 'where the service is; `https` unless it is on this machine',
  },
  serviceToken: {
    name: 'SERVICE_TOKEN',
    schema: serviceToken().optional(),
    derived: 'made for the sandbox',
    sentence: 'bearer token for the service',
    secret: 'one',
    live: true,
    random: whole,
  },
  serviceAccount: {
    name: 'SERVICE_ACCOUNT',
    schema: accountName().prefault('default'),
    sentence: 'a name for the account that the token belongs to; part of every claim. Two accounts need two names',
  },
  serviceTimeoutMs: {
    name: 'SERVICE_TIMEOUT',
    schema: seconds(600).prefault('30'),
    sentence:
      'seconds until a call is given up; the outcome of a money-moving one is then unknown. If you raise it, raise ' +
      'with it [how long a process may take to stop](deployment.md#probes): at least twenty seconds more',
  },
  duplicateReference: {
    name: 'DUPLICATE_REFERENCE',
    schema: duplicateReference().prefault('unknown'),
    sentence:
      'what the service does with a reference that it knows: `unknown`, `same-result` or `rejected`, for all ' +
      'operations or as `operation=rule` pairs, comma-separated. Towline sends again by itself only if a repeat is ' +
      'safe. `towline doctor` explains how to find out',
  },
  /** What the service has beyond its interface, and flows may use. */
  serviceProfile: {
    name: 'SERVICE_PROFILE',
    schema: serviceProfile().prefault('interface'),
    sentence:
      'what the service can do: `interface` (what its interface says) or `live` (further operations of the live ' +
      'service), for all or as `operation=profile` pairs, comma-separated: `getBankWithdrawal`, `getCardDeposit`, ' +
      "`getBridgeDeposit` look such a flow up, and `submitRefundInvoice` takes the invoice of an offramp's refund. A " +
      'flow keeps the profile with which it began. `towline doctor` finds out which lookups the service has; before ' +
      'you set one, look a record of your own up by it. A lookup that does not know a record proves nothing, and ' +
      'neither does a record that names no reference of yours and no amount: then events end the flow, as without it',
  },
  /** Further words with which the service says that it knows a reference, in addition to those of the contract. */
  duplicateWords: {
    name: 'DUPLICATE_WORDS',
    schema: words().default([]),
    sentence:
      'further words with which the service says that it knows a reference, comma-separated, besides [those that ' +
      'Towline knows](../src/contract/duplicate-words.ts). A refusal that contains one of them is looked up, and never ' +
      'counts as a failure',
  },
  /** The largest amount of one flow, by currency or token in capitals. The others have no limit. */
  maxAmounts: {
    name: 'MAX_AMOUNTS',
    schema: maxAmounts().default(() => new Map()),
    sentence:
      'the largest amount of one flow by currency or token, comma-separated: `KES:150000,USDC:5000`. Every amount that ' +
      'a flow names counts: for a bridge transfer what the payer pays, what the recipient gets, and the crypto that ' +
      'comes in. Gateway and worker refuse a larger flow before anything is sent: set the same for both. Lowering the ' +
      'limit does not stop existing flows. A limit in BTC, SAT or MSAT holds for all three. Other currencies have no ' +
      'limit',
  },
} satisfies SettingGroup;

export const INBOUND = {
  publicUrl: {
    name: 'PUBLIC_URL',
    schema: httpUrl().optional(),
    derived: "the public listener's own address",
    sentence:
      "the gateway's public listener (`INBOUND_PORT`) as the service sees it; the service sends callbacks there. Must " +
      'be `https` unless it is on this machine',
  },
  webhookProfile: {
    name: 'WEBHOOK_PROFILE',
    schema: oneOf(WEBHOOK_PROFILES).prefault('auto'),
    sentence:
      "how the service signs: `standard-webhooks`, `raw-hmac`, `json-hmac` (the service's own `X-Kotani-Signature`), " +
      '`unsigned` (only the capability in the URL), or `auto` (any of these signatures; the capability alone only if ' +
      'no gateway of this store ever had a secret); see [the gateway](gateway.md#signatures)',
  },
  webhookSecrets: {
    name: 'WEBHOOK_SECRETS',
    schema: secrets('any').default([]),
    sentence:
      "the service's secrets, comma-separated for rotation; only `whsec_…` can sign Standard Webhooks, the HMAC " +
      'profiles use the text as the key. `towline account webhook --rotate` adds secrets, and expires old ones, ' +
      'through the file `webhook-secrets` in `TOWLINE_HOME`, without a restart',
    secret: 'list',
    live: true,
    random: each,
  },
  /** The service signs its callbacks for single flows, too: without a signature they are then not trusted. */
  serviceSignsCallbacks: {
    name: 'SERVICE_SIGNS_CALLBACKS',
    schema: flag().prefault('true'),
    sentence:
      '`false`: the service signs its account webhooks, but not its callbacks for single flows. Under ' +
      '`WEBHOOK_PROFILE=auto` the capability in the URL then proves these, also with `WEBHOOK_SECRETS`',
  },
  /** New capabilities in our URLs use the first; all are accepted. Never empty. */
  capabilityEpochs: {
    name: 'CAPABILITY_EPOCHS',
    schema: epochs().prefault('1'),
    sentence:
      'whole numbers, comma-separated: new capabilities in our URLs use the first; all are accepted. `2,1` makes new ' +
      'ones and still accepts the earlier ones of running flows; `2` revokes those. Set the same for gateways and ' +
      'workers, and send the service its new webhook URL (`towline account webhook`)',
  },
  settlementTrust: {
    name: 'SETTLEMENT_TRUST',
    schema: oneOf(SETTLEMENT_TRUSTS).prefault('corroborated'),
    sentence:
      'what proves a settlement: `corroborated`, `signed` or `network`; see ' +
      '[reliability](reliability.md#unauthenticated-settlements)',
  },
  settlementSecrets: {
    name: 'SETTLEMENT_SECRETS',
    schema: secrets('standard-webhooks').default([]),
    derived: 'made for the sandbox',
    sentence: "the settlement provider's secrets, comma-separated for rotation, `whsec_…`",
    secret: 'list',
    live: true,
    random: each,
  },
  /** The part of the URL that only the settlement provider knows. Undefined: derived from the store's key. */
  settlementCapability: {
    name: 'SETTLEMENT_CAPABILITY',
    schema: capability().optional(),
    derived: 'derived in development, else none',
    sentence:
      'the last part of `/settlements/…`, for a provider that cannot sign: 22 to 128 letters, digits, `-` and `_`',
    secret: 'one',
    live: true,
    random: whole,
  },
  settlementNetworks: {
    name: 'SETTLEMENT_NETWORKS',
    schema: networks().optional(),
    sentence:
      'addresses or networks of the provider, comma-separated, as the gateway sees them: behind a proxy all requests ' +
      "have the proxy's address. So outside of development, where `PUBLIC_URL` is https, `TRUSTED_PROXIES` must name " +
      'the proxy, and no address may be in both',
  },
} satisfies SettingGroup;

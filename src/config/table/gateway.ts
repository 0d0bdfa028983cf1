import { z } from 'zod';
import {
  each,
  flag,
  fourEyesActions,
  httpUrl,
  maxAmounts,
  megabytes,
  port,
  referencePrefixes,
  seconds,
  secrets,
  wholeNumber,
} from '../setting-schemas.js';
import { networks } from '../networks.js';
import { gatewayTokens, secretsOfTokens } from '../gateway-tokens.js';
import type { SettingGroup } from './setting.js';

export const LISTENERS = {
  gatewayHost: {
    name: 'GATEWAY_HOST',
    schema: z.string().prefault('127.0.0.1'),
    sentence:
      "address of the inside listener: the API, the service's own interface, console, codec, metrics, docs, health",
  },
  gatewayPort: {
    name: 'GATEWAY_PORT',
    schema: port().prefault('8400'),
    sentence: 'its port: for backends and people, not for the internet',
  },
  gatewayUrl: {
    name: 'GATEWAY_URL',
    schema: httpUrl().optional(),
    derived: '`http://GATEWAY_HOST:GATEWAY_PORT`',
    sentence:
      'how backends and people reach it: links to the console begin with it, and `towline start`, `show`, `resolve` … ' +
      'talk to it. `https`, unless it is on this machine',
  },
  inboundHost: {
    name: 'INBOUND_HOST',
    schema: z.string().prefault('127.0.0.1'),
    sentence: 'address of the public listener: webhooks, callbacks, settlements and health, nothing else',
  },
  /** Undefined: `gatewayPort` serves webhooks and callbacks, too. */
  inboundPort: {
    name: 'INBOUND_PORT',
    schema: port().optional(),
    derived: 'none in development: `GATEWAY_PORT` serves both',
    sentence: 'its port, to which `PUBLIC_URL` leads. Required outside of development',
  },
  gatewayTokens: {
    name: 'GATEWAY_TOKENS',
    schema: gatewayTokens().optional(),
    derived: '`dev:admin:dev-token` in development, else none',
    sentence:
      'who may call: comma-separated `name:role:secret`. Roles are sets of permissions, several joined by a plus ' +
      '(`ann:operator+approver:…`): `viewer` (only reads), `flows` (starts, approves, cancels, pays), `approver` ' +
      '(approves), `operator` (decides parked flows, replays, reads bodies, decodes), `auditor` (reads everything, the ' +
      'audit log included), `admin` (all): [who may do what](access.md). The name is what records show. Outside of ' +
      'development a secret has at least 22 characters (128 random bits) and 8 different ones, and the gateway does ' +
      'not start without one, unless `OIDC_ISSUER` is set',
    secret: 'list',
    live: true,
    random: secretsOfTokens,
  },
} satisfies SettingGroup;

export const FOUR_EYES = {
  actions: {
    name: 'FOUR_EYES',
    schema: fourEyesActions().optional(),
    derived: 'none in development, else [all that can end a flow or stand in for proof](access.md#a-second-person)',
    sentence:
      'orders that [a second person](access.md#a-second-person) confirms before they are carried out: actions of ' +
      '[parked flows](parked-flows.md), comma-separated, `mark-*` for all that begin with `mark-`; `trust-event` for ' +
      'vouching for an event by its replay, or giving a proven one to a flow; `none`. Set the same for gateways and ' +
      'workers',
  },
  above: {
    name: 'FOUR_EYES_ABOVE',
    schema: maxAmounts().default(() => new Map()),
    sentence:
      'amounts above which the quote of a bridge transfer (what the payer pays, or what the recipient gets) waits for ' +
      'the approval of two persons, whether or not its starter asks for one, by currency or token, comma-separated: ' +
      '`USD:1000,KES:100000`. A limit in BTC, SAT or MSAT holds for all three. In other currencies a quote waits only ' +
      'if its starter asks for it, for one person. Set the same for gateways and workers',
  },
} satisfies SettingGroup;

export const CALLERS = {
  proxyTimeoutMs: {
    name: 'PROXY_TIMEOUT',
    schema: seconds(300).prefault('10'),
    sentence: "seconds that a caller of the service's own interface waits for the service's answer, before it gets 202",
  },
  callbackSecrets: {
    name: 'CALLBACK_SECRETS',
    schema: secrets('standard-webhooks').default([]),
    derived: 'derived in development, else none',
    sentence:
      'what the secrets that sign [callbacks to callers](callbacks.md#the-secret-of-a-name) are derived from, for each ' +
      'name another one: comma-separated `whsec_…`, of which the first signs. Of workers and gateways alike. Without ' +
      'one nothing is sent: callbacks wait, and the log says so',
    secret: 'list',
    live: true,
    random: each,
  },
  callbackAllowLoopback: {
    name: 'CALLBACK_ALLOW_LOOPBACK',
    schema: flag().optional(),
    derived: '`true` in development, else `false`',
    sentence: 'whether callbacks may go to this machine, also over `http`',
  },
  /** What the references of a caller's name begin with. */
  referencePrefixes: {
    name: 'GATEWAY_REFERENCE_PREFIXES',
    schema: referencePrefixes().default(() => new Map()),
    sentence:
      "what the references of each caller's name begin with, comma-separated: `shop-a=A-,shop-b=B-`. One reference is " +
      "one flow, whoever's: without prefixes a caller can take the next references of another one. A name with a " +
      "prefix starts flows under it alone (what it only watches has a reference of the service's), and no other name " +
      'under it. Set the same for all gateways',
  },
  /** Requests per second for each token. 0: no limit. Far above what flows need: a machine starts some fifty in a second. */
  gatewayRateLimit: {
    name: 'GATEWAY_RATE_LIMIT',
    schema: wholeNumber(1_000_000).prefault('200'),
    sentence:
      "requests a second per token, ten seconds' worth of them at once; more are answered 429 with `Retry-After`. Each " +
      'gateway counts for itself; `0`: no limit',
  },
  unprovenRateLimit: {
    name: 'UNPROVEN_RATE_LIMIT',
    schema: wholeNumber(1_000_000).optional(),
    derived: '`10`, at most `GATEWAY_RATE_LIMIT` if that is not `0`',
    sentence:
      'events without proof, and requests with wrong tokens, a second per address (per /64 for IPv6), counted in the ' +
      'same way; each 4 KiB of an event count as one. [Further limits depend on it](gateway.md#limits)',
  },
  /** Bytes of the store that events without proof may take. */
  unprovenDiskBytes: {
    name: 'UNPROVEN_DISK_MB',
    schema: megabytes(1_000_000).prefault('64'),
    sentence:
      'megabytes of the store that events without proof may take, for all gateways together ([plus what several of ' +
      'them take in a minute](gateway.md#limits)); beyond that the oldest are deleted, those without a flow first',
  },
  /** Open connections, in all. */
  maxConnections: {
    name: 'GATEWAY_MAX_CONNECTIONS',
    schema: wholeNumber(1_000_000)
      .transform((most) => most || Infinity)
      .prefault('8192'),
    sentence:
      'connections that a gateway has open at a time; at most a quarter of them from one address, and three quarters ' +
      'from [unknown clients](gateway.md#limits), except from `TRUSTED_PROXIES`. `0`: no limit',
  },
  /** Proxies in front of the gateway, whose report of a sender's address is trusted. Undefined: none is. */
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    schema: networks().optional(),
    sentence:
      'addresses or networks of the proxies in front of the gateway, comma-separated. Their `X-Forwarded-For` gives ' +
      "the address of a request, for `SETTLEMENT_NETWORKS` and the limits per address; no other sender's header " +
      'counts. They must append to that header, or set it',
  },
} satisfies SettingGroup;

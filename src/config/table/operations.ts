import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import {
  buildId,
  days,
  each,
  fixedPort,
  flag,
  fraction,
  httpUrl,
  ipAddress,
  keysOf,
  oneOf,
  otlpHeaders,
  payloadKeys,
  perSecond,
  port,
  postgresUrl,
  secrets,
  workerSlots,
} from '../setting-schemas.js';
import { escalation, notifyTargets, operatorUrl } from '../notify-urls.js';
import type { SettingGroup } from './setting.js';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const DATABASE_TLS = ['verified', 'unverified'] as const;

export const WORKERS = {
  /** Activities at a time of one worker, by task queue. */
  workerSlots: {
    name: 'WORKER_SLOTS',
    schema: workerSlots().default({}),
    derived: '100 each',
    sentence:
      'steps that one worker does at a time, by [task queue](deployment.md#task-queues-and-a-stop-for-money), ' +
      'comma-separated: `money:50,lookups:200`. Queues: `flows`, `money`, `lookups`, `callbacks`',
  },
  /** Sends of money per second, by all workers together. Undefined: no limit. */
  moneyPerSecond: {
    name: 'MONEY_RATE_LIMIT',
    schema: perSecond().optional(),
    sentence:
      'sends of money a second, over all workers, enforced by Temporal: `5`, or `0.5` for one in two seconds. Further ' +
      'sends wait. Set the same for all workers: the value of the latest poll counts',
  },
  /** The version of a worker in Temporal's worker deployment. Undefined: workers have no versions. */
  workerBuildId: {
    name: 'WORKER_BUILD_ID',
    schema: buildId().optional(),
    derived: 'none: workers have no versions',
    sentence:
      "the version of this worker, such as a commit's id: it gets tasks only once that version is current or ramping " +
      'in Temporal; see [versions of workers](deployment.md#versions-of-workers)',
  },
  workerProbeHost: {
    name: 'WORKER_PROBE_HOST',
    schema: z.string().prefault('127.0.0.1'),
    sentence: "address that a worker's probes listen on",
  },
  /** Undefined: a worker listens nowhere. */
  workerProbePort: {
    name: 'WORKER_PROBE_PORT',
    schema: port().optional(),
    derived: 'none: it listens nowhere',
    sentence: "port of a worker's [probes](deployment.md#probes), `/healthz` and `/readyz`",
  },
  /** An IP address. */
  workerMetricsHost: {
    name: 'WORKER_METRICS_HOST',
    schema: ipAddress().prefault('127.0.0.1'),
    sentence: "IP address that a worker's metrics listen on. They need no token: use only your own network",
  },
  /** Undefined: a worker shows no metrics. */
  workerMetricsPort: {
    name: 'WORKER_METRICS_PORT',
    schema: fixedPort().optional(),
    derived: 'none: it shows no metrics',
    sentence:
      "port of a worker's `/metrics` for Prometheus, including the SDK's own metrics: [monitoring](monitoring.md). " +
      'Each worker of a machine needs a port of its own',
  },
} satisfies SettingGroup;

export const NOTIFICATIONS = {
  /** Receivers of notifications. */
  notifyTargets: {
    name: 'NOTIFY_URLS',
    schema: notifyTargets().default([]),
    sentence:
      'receivers of [notifications](monitoring.md#notifications) of parked flows and alarms, comma-separated: ' +
      '`https://…` (signed, by Standard Webhooks), `slack:https://hooks.slack.com/…`, ' +
      '`pagerduty:https://ROUTING_KEY@events.pagerduty.com/v2/enqueue`. `https`, also within your own network; `http` ' +
      'only on this machine. A secret: logs show at most its origin',
    secret: 'list',
    live: true,
  },
  notifySecrets: {
    name: 'NOTIFY_SECRETS',
    schema: secrets('standard-webhooks').default([]),
    sentence:
      'our secrets to sign notifications: comma-separated `whsec_…`, of which the first signs. Needed unless all of ' +
      '`NOTIFY_URLS` are `slack:` or `pagerduty:`',
    secret: 'list',
    live: true,
    random: each,
  },
  /** Rising. */
  notifyEscalateAfterMs: {
    name: 'NOTIFY_ESCALATE_AFTER',
    schema: escalation().prefault('3600,14400'),
    sentence: 'seconds after which an open matter is sent again as a reminder; after the last of them once a day',
  },
  /** Base URL of this repository's files, for people. Undefined: notifications name their pages by path alone. */
  docsUrl: {
    name: 'DOCS_URL',
    schema: httpUrl().optional(),
    sentence:
      'where people read the files of this repository, at your release: `https://git.example/towline/blob/v1.0.0`. The ' +
      'pages that notifications name then begin with it; else they are paths such as ' +
      '`docs/parked-flows.md#no_settlement`',
  },
  /** URL for a heartbeat once a minute. Undefined: none. */
  heartbeatUrl: {
    name: 'HEARTBEAT_URL',
    schema: operatorUrl().optional(),
    sentence:
      'a heartbeat is posted there once a minute, if everything could be checked; otherwise a failure is posted to the ' +
      'same path plus `/fail`. [Another service](monitoring.md#heartbeat) must alert you when heartbeats stop',
    secret: 'one',
    live: true,
  },
} satisfies SettingGroup;

export const TRACES = {
  /** The collector that spans are sent to, by OTLP over HTTP. Undefined: nothing is traced. */
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    schema: httpUrl().optional(),
    sentence:
      'an OpenTelemetry collector, such as `http://collector:4318`: gateways and workers send it a [trace of each ' +
      'flow](monitoring.md#traces), by OTLP over HTTP. If unset, nothing is traced',
  },
  /** Headers of each request to it; a secret. */
  otlpHeaders: {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    schema: otlpHeaders().default({}),
    sentence:
      'headers of each request to it, such as `authorization=Bearer%20…,x-tenant=payments`: comma-separated ' +
      '`name=value`, values percent-encoded. A secret',
    secret: 'one',
    live: true,
  },
  /** The share of the flows that is traced, 0 to 1. */
  traceRatio: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    schema: fraction().prefault('1'),
    sentence:
      'the share of the flows that is traced, above 0 and at most 1: a flow is traced completely, by all processes, or ' +
      'not at all',
  },
} satisfies SettingGroup;

export const STATE = {
  /** Absolute path of the folder with all our state. */
  towlineHome: {
    name: 'TOWLINE_HOME',
    schema: z
      .string()
      .transform((folder) => resolve(folder))
      .prefault('.towline'),
    sentence:
      'folder with all state: store (unless `DATABASE_URL` is set), keys and secrets of development, logs, the ' +
      "sandbox, our own Temporal server's file. Two homes with ports of their own run side by side",
  },
  towlineCache: {
    name: 'TOWLINE_CACHE',
    schema: z.string().default(() => join(homedir(), '.cache', 'towline')),
    derived: '`~/.cache/towline`',
    sentence: 'folder of a downloaded or built Temporal server; not from `.env`',
  },
  /** For `parseKeyring`; undefined in development: keys are made in `towlineHome`. */
  payloadKeys: {
    name: 'PAYLOAD_KEYS',
    schema: payloadKeys().optional(),
    derived: 'made in `TOWLINE_HOME` in development',
    sentence:
      'keys that encrypt payloads, stored answers and event bodies: comma-separated `id:base64-of-32-bytes`. The first ' +
      'encrypts, all decrypt. Give a new key to every process, last in the list, before it moves to the front; ' +
      '`towline keys` [replaces one](deployment.md#replacing-a-payload-key)',
    secret: 'list',
    random: keysOf,
  },
  /** How long the bodies of events are kept. */
  eventBodiesKeptMs: {
    name: 'EVENT_BODIES_KEPT_DAYS',
    schema: days().prefault('90'),
    sentence:
      'days after which gateways clear the body of an event that was dealt with; its hash stays, and identifies a ' +
      'repetition',
  },
  /** How long the answers of ended claims are kept. Undefined: for ever. */
  answersKeptMs: {
    name: 'ANSWERS_KEPT_DAYS',
    schema: days().optional(),
    derived: 'none: kept',
    sentence:
      'days after the end of a claim after which gateways clear what the service answered to it. A repeated request is ' +
      'then answered that its reference was used, without the answer itself. Choose more days than your longest flow ' +
      'takes: [retention](deployment.md#retention-and-erasure)',
  },
  allowPlaintext: {
    name: 'ALLOW_PLAINTEXT',
    schema: flag().optional(),
    derived: '`true` in development, else `false`',
    sentence: 'whether flows accept unencrypted starts and messages',
  },
  /** The store that several machines share; a secret. Undefined: the embedded one in `towlineHome`. */
  databaseUrl: {
    name: 'DATABASE_URL',
    schema: postgresUrl().optional(),
    sentence:
      '`postgres://user:password@host:port/database`: the store in a Postgres (13 or newer) that gateways and workers ' +
      'of several machines share, in place of the embedded store; [deployment](deployment.md). A secret: no log and no ' +
      'error shows it',
    secret: 'one',
  },
  databaseTls: {
    name: 'DATABASE_TLS',
    schema: oneOf(DATABASE_TLS).prefault('verified'),
    sentence:
      '`verified`: a database that is not on this machine needs `?sslmode=verify-full` in `DATABASE_URL`, and ' +
      '`&sslrootcert=/path/ca.pem` for a CA of your own. `unverified`: an attacker on the network can read and change ' +
      'claims, which can send money twice; use it only on a private network',
  },
} satisfies SettingGroup;

export const DEVELOPMENT = {
  development: {
    name: 'DEVELOPMENT',
    schema: flag().optional(),
    derived: '`true` with our own sandbox, if `GATEWAY_HOST` and `PUBLIC_URL` are on this machine; else `false`',
    sentence:
      'whether tokens, keys and secrets that are not set are generated. `true` is refused if the service, the gateway ' +
      'or `PUBLIC_URL` is not on this machine. The gateway then answers only requests whose `Host` is a name of this ' +
      'machine (`127.0.0.1`, `localhost`, `*.localhost`, `host.docker.internal` and its like), else 421: a web page ' +
      'could use any other one',
  },
  sandboxHost: {
    name: 'SANDBOX_HOST',
    schema: z.string().prefault('127.0.0.1'),
    sentence: 'address that the sandbox listens on; its control interface has no password',
  },
  sandboxPort: {
    name: 'SANDBOX_PORT',
    schema: port().prefault('8401'),
    sentence: 'port that it listens on',
  },
  timeScale: {
    name: 'TIME_SCALE',
    schema: fraction().prefault('1'),
    sentence:
      'multiplies every wait of Towline in the flows that the gateway starts, for tests; below 1 only with a service ' +
      'on this machine',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    schema: oneOf(LOG_LEVELS).prefault('info'),
    sentence: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`',
  },
} satisfies SettingGroup;

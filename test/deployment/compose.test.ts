import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import pc from 'picocolors';
import { parse } from 'yaml';
import { createProgram } from '../../src/cli/program.js';
import { graceMsOf, type ProcessName } from '../../src/cli/run-process.js';
import { readSettings } from '../../src/config/index.js';
import { SEARCH_ATTRIBUTES } from '../../src/protocol/vocabulary.js';
import { packageRoot } from '../../src/package-root.js';
import { isSecret, SECRETS_OF } from './secrets-of-processes.js';
import { secretBytes } from '../harness/secrets.js';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly network_mode?: string;
  readonly profiles?: readonly string[];
  readonly deploy?: { readonly replicas?: number };
  readonly healthcheck?: unknown;
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
}

const read = (path: string) => readFileSync(join(packageRoot(), path), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as Record<string, unknown> & {
  readonly services: Readonly<Record<string, Service>>;
};
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const gatewayAndWorker = ours.filter(([name]) => name !== 'sandbox');
const dockerfile = read('Dockerfile');

/** What a person writes into .env. */
const DOT_ENV: Readonly<Record<string, string>> = {
  DATABASE_PASSWORD: 'letters1anddigits',
  TEMPORAL_DATABASE_PASSWORD: 'letters2anddigits',
  PAYLOAD_KEYS: `k1:${secretBytes(1).toString('base64')}`,
  GATEWAY_TOKENS: 'backend:flows:secret-of-the-backend-00',
};
/** What the file itself decides. */
const FIXED = [
  'DATABASE_URL',
  'DATABASE_TLS',
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_UI_URL',
  'DEVELOPMENT',
];
const FIXED_OF: Readonly<Record<string, readonly string[]>> = {
  gateway: ['GATEWAY_HOST', 'GATEWAY_PORT', 'INBOUND_HOST', 'INBOUND_PORT', ...FIXED],
  worker: ['WORKER_PROBE_PORT', 'WORKER_METRICS_HOST', 'WORKER_METRICS_PORT', ...FIXED],
};
/** The settings of `.env` that only one of them needs. */
const OWN = {
  gateway:
    /^(GATEWAY|INBOUND|OIDC|WEBHOOK|SETTLEMENT|UNPROVEN)_|^(SERVICE_SIGNS_CALLBACKS|PROXY_TIMEOUT|TRUSTED_PROXIES)$|_KEPT_DAYS$/,
  worker: /^WORKER_|^(MONEY_RATE_LIMIT|CALLBACK_SECRETS)$/,
} as const;
const LEFT_OUT: Readonly<Record<string, string>> = {
  CALLBACK_ALLOW_LOOPBACK: 'no caller is in the container of a gateway',
  TOWLINE_HOME: 'the image has it',
  TOWLINE_CACHE: 'Temporal is a service of its own',
  TEMPORAL_CLI_PATH: 'Temporal is a service of its own',
  'TEMPORAL_*': 'Temporal is a service of its own, on this network',
  TOWLINE_TOKEN: 'of the command line',
  NO_COLOR: 'of the command line',
  NODE_TLS_REJECT_UNAUTHORIZED: 'of Node itself, and refused',
  SANDBOX_HOST: 'the sandbox alone has it',
  SANDBOX_PORT: 'of one machine: each container has its own ports',
  TIME_SCALE: 'for tests',
};
/** `${NAME:-default}` and `${NAME:?what to do}`, as Compose reads them. */
const VARIABLE = /\$\{(\w+):([-?])([^}]*)\}/g;
const filledIn = (text: string, env: Readonly<Record<string, string>>) =>
  text.replaceAll(VARIABLE, (_, name: string, kind: string, rest: string) => {
    const value = env[name];
    if (value === undefined && kind === '?') throw new Error(`${name} is missing: ${rest}`);
    return value ?? rest;
  });

const settingsOf = (service: Service | undefined, env: Readonly<Record<string, string>>) =>
  readSettings(
    Object.fromEntries(Object.entries(service?.environment ?? {}).map(([name, value]) => [name, filledIn(value, env)])),
  );

describe('docker-compose.yml', () => {
  it('fits the public schema of the Compose specification, which does refuse what is wrong', () => {
    const schema = JSON.parse(read('test/deployment/compose-spec/compose-spec.json')) as object;
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    const validate = ajv.compile(schema);
    expect([validate(compose), validate.errors]).toEqual([true, null]);
    expect(validate({ ...compose, services: { gateway: { imagine: 'x' } } })).toBe(false);
  });

  it('runs what issue and design name: gateway, two workers, the sandbox as a profile, Temporal and its UI, two databases', () => {
    expect(ours.map(([name]) => name)).toEqual(['gateway', 'worker', 'sandbox']);
    expect(compose.services['worker']?.deploy?.replicas).toBe(2);
    const profiles = services.flatMap(([name, service]) => (service.profiles ?? []).map((profile) => [name, profile]));
    expect(Object.fromEntries(profiles)).toEqual({
      sandbox: 'sandbox',
      prometheus: 'monitoring',
      grafana: 'monitoring',
    });
    const images = services.flatMap(([, { image = '', build }]) =>
      build === undefined ? [image.split(':')[0] ?? ''] : [],
    );
    expect(images.toSorted()).toEqual([
      'grafana/grafana',
      'postgres',
      'postgres',
      'prom/prometheus',
      ...['admin-tools', 'admin-tools', 'server', 'ui'].map((name) => `temporalio/${name}`),
    ]);
    expect(compose.services['temporal-ui']?.environment?.['TEMPORAL_CODEC_ENDPOINT']).toMatch(/:8400\}\/codec$/);
  });

  it('starts ours by commands of the command line, with settings that are documented', () => {
    const context = {
      env: {},
      out: () => {},
      err: () => {},
      isTerminal: false,
      colors: pc.createColors(false),
      stdin: () => Promise.resolve(''),
    };
    const commands = createProgram(context, async () => {}).commands.map((command) => command.name());
    const documented = read('docs/settings.md').matchAll(/^\| `([A-Z_]+)` /gm);
    const known = new Set([...documented].map(([, name]) => name));
    for (const [, { command = [], environment = {} }] of ours) {
      expect(commands).toContain(command[0]);
      expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    }
  });

  it('gives them settings that they take, with the sandbox and with a live service', () => {
    for (const [, service] of gatewayAndWorker) {
      expect(settingsOf(service, DOT_ENV)).toMatchObject({
        development: false,
        serviceIsSandbox: true,
        databaseUrl: 'postgres://towline:letters1anddigits@database:5432/towline',
      });
      const live = {
        SERVICE_BASE_URL: 'https://service.example',
        SERVICE_TOKEN: 'a-token',
        PUBLIC_URL: 'https://t.example',
      };
      expect(settingsOf(service, { ...DOT_ENV, ...live })).toMatchObject({ serviceIsSandbox: false });
      expect(() => settingsOf(service, {})).toThrow('DATABASE_PASSWORD');
    }
  });

  it('passes every setting on that .env may have, to the processes that need it', () => {
    const names = [...read('docs/settings.md').matchAll(/^\| `([A-Z_]+\*?)` /gm)].map(([, name = '']) => name);
    for (const [process, { environment = {} }] of gatewayAndWorker) {
      const passed = names.filter((name) => environment[name]?.startsWith(`\${${name}:`));
      const fixed = names.filter((name) => name in environment && !passed.includes(name));
      expect(fixed).toEqual(FIXED_OF[process]);
      const others = process === 'gateway' ? OWN.worker : OWN.gateway;
      const needed = names.filter((name) => !(name in LEFT_OUT) && !fixed.includes(name) && !others.test(name));
      expect(passed).toEqual(needed);
    }
  });

  it('starts each process with its own secrets alone, also if the settings of .env need them', () => {
    const secret = (byte: number) => `whsec_${secretBytes(byte, 24).toString('base64')}`;
    const given: Readonly<Record<string, string>> = {
      ...DOT_ENV,
      SERVICE_BASE_URL: 'https://service.example',
      PUBLIC_URL: 'https://t.example',
      SERVICE_TOKEN: 'a-token-of-the-service',
      SETTLEMENT_TRUST: 'signed',
      SETTLEMENT_SECRETS: secret(1),
      SETTLEMENT_CAPABILITY: 'a-capability-of-the-provider',
      WEBHOOK_PROFILE: 'standard-webhooks',
      WEBHOOK_SECRETS: secret(2),
      CALLBACK_SECRETS: secret(3),
      NOTIFY_URLS: 'https://receiver.example',
      NOTIFY_SECRETS: secret(4),
      HEARTBEAT_URL: 'https://heartbeat.example',
      OIDC_ISSUER: 'https://login.example',
      OIDC_AUDIENCE: 'towline',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret',
    };
    for (const [process, needed] of Object.entries(SECRETS_OF)) {
      const service = compose.services[process];
      expect(
        Object.keys(service?.environment ?? {})
          .filter(isSecret)
          .toSorted(),
      ).toEqual(needed.toSorted());
      const texts = Object.values(service?.environment ?? {}).map((text) => filledIn(text, given));
      const has = (name: string) => texts.includes(given[name] ?? '');
      expect([has('SERVICE_TOKEN'), has('NOTIFY_SECRETS')]).toEqual([true, true]);
      const onlyOfGateways = ['GATEWAY_TOKENS', 'WEBHOOK_SECRETS', 'SETTLEMENT_SECRETS', 'OIDC_ISSUER'].map(has);
      expect(new Set(onlyOfGateways)).toEqual(new Set([process === 'gateway']));
      expect(has('CALLBACK_SECRETS')).toBe(process === 'worker');
      expect(settingsOf(service, given)).toMatchObject({ development: false, serviceIsSandbox: false });
    }
  });

  it('gives the sandbox settings of its own, and nothing of a live service', () => {
    const live = Object.fromEntries(
      ['SERVICE_TOKEN', 'WEBHOOK_SECRETS', 'SETTLEMENT_SECRETS', 'CALLBACK_SECRETS'].map((name) => [
        name,
        `live-${name}`,
      ]),
    );
    const { environment = {} } = compose.services['sandbox'] ?? {};
    const given = Object.values(environment).map((text) => filledIn(text, { ...DOT_ENV, ...live }));
    for (const secret of [...Object.values(live), ...Object.values(DOT_ENV)]) {
      expect(given.filter((text) => text.includes(secret))).toEqual([]);
    }
    expect(settingsOf(compose.services['sandbox'], DOT_ENV)).toMatchObject({ serviceIsSandbox: true });
  });

  it('gives each container a network of its own, which no other can take away, and waits only for services that exist', () => {
    expect(services.filter(([, { network_mode }]) => network_mode !== undefined)).toEqual([]);
    const waited = services.flatMap(([, { depends_on = {} }]) => Object.keys(depends_on));
    expect(waited.filter((name) => !(name in compose.services))).toEqual([]);
  });

  it('registers the search attributes of the flows, each once', () => {
    const [script = ''] = compose.services['temporal-namespace']?.command ?? [];
    const names = /\bin ([\w ]+); do/.exec(script)?.[1]?.split(' ');
    expect(names).toEqual(Object.keys(SEARCH_ATTRIBUTES));
    expect(script).toContain('--type Keyword');
    expect(new Set(Object.values(SEARCH_ATTRIBUTES))).toEqual(new Set(['Keyword']));
    expect(compose.services['gateway']?.depends_on).toHaveProperty('temporal-namespace');
  });

  it('scrapes gateways and workers where their metrics are, and Grafana finds the dashboards', () => {
    const { prometheus } = compose['configs'] as { prometheus: { content: string } };
    const { scrape_configs: jobs } = parse(prometheus.content) as {
      scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    const targets = jobs.flatMap(({ dns_sd_configs: found }) => found.map(({ names, port }) => [names[0], port]));
    const { environment = {} } = compose.services['worker'] ?? {};
    expect(targets).toEqual([
      ['gateway', Number(compose.services['gateway']?.environment?.['GATEWAY_PORT'])],
      ['worker', Number(environment['WORKER_METRICS_PORT'])],
    ]);
    const mounted = ['prometheus', 'grafana'].flatMap((name) => compose.services[name]?.volumes ?? []);
    const ownFiles = mounted.filter((volume) => volume.startsWith('./')).map((volume) => volume.split(':')[0] ?? '');
    expect(ownFiles.filter((path) => !existsSync(join(packageRoot(), path)))).toEqual([]);
    expect(ownFiles).toHaveLength(3);
    const [provisioned, { uid, url }] = ['dashboards/towline', 'datasources/prometheus'].map((path) => {
      const file = parse(read(`tools/observability/grafana/provisioning/${path}.yml`)) as Record<string, unknown[]>;
      return (file['providers'] ?? file['datasources'])?.[0] as Record<string, unknown>;
    }) as [{ options: { path: string } }, { uid: string; url: string }];
    const { environment: ofGrafana = {}, volumes = [] } = compose.services['grafana'] ?? {};
    expect(volumes).toContain(`./tools/observability/grafana/dashboards:${provisioned.options.path}:ro`);
    expect([url, ofGrafana['PROMETHEUS_URL']]).toEqual(['${PROMETHEUS_URL}', 'http://prometheus:9090']);
    const dashboard = read('tools/observability/grafana/dashboards/towline.json');
    const sources = [...dashboard.matchAll(/"datasource": \{\s+"type": "(\w+)",\s+"uid": "(\w+)"/g)];
    expect(new Set(sources.map(([, type, of]) => `${type} ${of}`))).toEqual(new Set([`prometheus ${uid}`]));
  });

  it('gives Temporal shards for the flows of years: it cannot have more later', () => {
    expect(compose.services['temporal']?.environment?.['NUM_HISTORY_SHARDS']).toBe('512');
  });

  it('gives each of our processes as long to stop as it may take with the default SERVICE_TIMEOUT, and docs/deployment.md names how much to add', () => {
    for (const [name, service] of ours) {
      const graceMs = graceMsOf(name as ProcessName, settingsOf(service, DOT_ENV));
      const [, seconds = ''] = /^(\d+)s$/.exec(service.stop_grace_period ?? '') ?? [];
      expect({ name, isEnough: Number(seconds) * 1_000 >= graceMs }).toEqual({ name, isEnough: true });
    }
    const more = graceMsOf('worker', { serviceTimeoutMs: 0 }) / 1_000;
    // The one test of what docs/deployment.md says about it.
    expect([more, read('docs/deployment.md')]).toEqual([20, expect.stringContaining('`SERVICE_TIMEOUT` plus twenty')]);
  });

  it('pins every image to a version', () => {
    const images = [
      ...services.map(([, { image = '' }]) => image),
      ...[...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image),
    ];
    expect(images.length).toBe(services.length + 2);
    expect(images.filter((image) => !/:v?\d+\.\d+\.?\d*/.test(image))).toEqual([]);
  });
});

describe('the sandbox of another container', () => {
  const [[, nearby = ''] = []] = ours.map(([, { entrypoint = [] }]) =>
    entrypoint.filter((word) => !word.startsWith('--')),
  );

  it('is on this machine for gateway and workers, and the gateway is for it: by a program that the image has', () => {
    const entry = (name: string) => compose.services[name]?.entrypoint;
    const forwarding = (route: string) => ['node', '--enable-source-maps', nearby, route];
    expect(entry('gateway')).toEqual(forwarding('8401:sandbox:8401'));
    expect(entry('worker')).toEqual(forwarding('8401:sandbox:8401'));
    expect(entry('sandbox')).toEqual(forwarding('8404:gateway:8404'));
    const copied = [...dockerfile.matchAll(/^COPY --from=build (\S+) (\S+)$/gm)].map(([, from, to]) => [from, to]);
    expect(copied).toContainEqual([`/towline/${nearby}`, nearby]);
    expect(settingsOf(compose.services['sandbox'], DOT_ENV)).toMatchObject({
      sandboxHost: '0.0.0.0',
      sandboxPort: 8401,
    });
  });
});

describe('the Dockerfile', () => {
  it('installs from the lock file, on glibc, and runs as an unprivileged user, with a health check', () => {
    const [, ...stages] = dockerfile.split(/^FROM /m);
    expect(stages.map((stage) => /^node:\S+-bookworm-slim/.test(stage))).toEqual([true, true]);
    expect(stages[0]).toMatch(/^RUN npm ci/m);
    expect(stages[1]).toMatch(/^USER node$/m);
    expect(stages[1]?.split(/^HEALTHCHECK /m)[1]).toContain('readyz/intake');
  });
});

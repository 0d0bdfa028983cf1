import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import pc from 'picocolors';
import { parse } from 'yaml';
import { createProgram } from '../../src/cli/program.js';
import { graceMsOf, type ProcessName } from '../../src/cli/run-process.js';
import { readSettings } from '../../src/config/index.js';
import { QUEUES } from '../../src/protocol/task-queues.js';
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
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly logging?: { readonly options: Readonly<Record<string, string>> };
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly configs?: readonly { readonly source: string }[];
}

const read = (path: string) => readFileSync(join(packageRoot(), path), 'utf8');
const compose = parse(read('docker-compose.yml'), { merge: true }) as Record<string, unknown> & {
  readonly services: Readonly<Record<string, Service>>;
};
const services = Object.entries(compose.services);
const ours = services.filter(([, { image = '' }]) => image.startsWith('${TOWLINE_IMAGE:-'));
const PROCESSES: Readonly<Record<string, ProcessName>> = {
  gateway: 'gateway',
  'worker-money': 'worker',
  worker: 'worker',
  sandbox: 'sandbox',
};
const processes = ours.filter(([name]) => name in PROCESSES);
const gatewayAndWorker = processes.filter(([name]) => name !== 'sandbox');
const dockerfile = read('Dockerfile');

/** What a person writes into .env. */
const DOT_ENV: Readonly<Record<string, string>> = {
  DATABASE_OWNER_PASSWORD: 'letters0anddigits',
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
  worker: /^WORKER_|^MONEY_RATE_LIMIT$/,
} as const;
const LEFT_OUT: Readonly<Record<string, string>> = {
  CALLBACK_ALLOW_LOOPBACK: 'no caller is in the container of a gateway',
  TOWLINE_HOME: 'the image has it',
  TOWLINE_CACHE: 'Temporal is a service of its own',
  TEMPORAL_CLI_PATH: 'Temporal is a service of its own',
  TEMPORAL_PORT: 'of the server that towline starts',
  TEMPORAL_UI_PORT: 'of the server that towline starts',
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

  it('runs a gateway, two workers for money and two for the rest, the sandbox as a profile, Temporal and its UI, two databases', () => {
    expect(ours.map(([name]) => name)).toEqual([...Object.keys(PROCESSES), 'migrate', 'temporal-setup']);
    const workers = processes.filter(([, { command = [] }]) => command[0] === 'worker');
    expect(workers.map(([, { deploy }]) => deploy?.replicas)).toEqual([2, 2]);
    const queues = workers.map(([, { command = [] }]) => command[2]?.split(','));
    expect(queues[0]).toEqual(['money']);
    expect(new Set(queues.flat())).toEqual(new Set(QUEUES));
    const profiles = services.flatMap(([name, service]) => (service.profiles ?? []).map((profile) => [name, profile]));
    expect(Object.fromEntries(profiles)).toEqual({
      sandbox: 'sandbox',
      prometheus: 'monitoring',
      grafana: 'monitoring',
    });
    const images = services.filter((one) => !ours.includes(one)).map(([, { image = '' }]) => image.split(':')[0] ?? '');
    expect(images.toSorted()).toEqual([
      'grafana/grafana',
      'postgres',
      'postgres',
      'postgres',
      'prom/prometheus',
      ...['admin-tools', 'server', 'ui'].map((name) => `temporalio/${name}`),
    ]);
  });

  it('starts ours by commands of the command line, with settings that are documented', async () => {
    const context = {
      env: {},
      out: () => {},
      err: () => {},
      isTerminal: false,
      colors: pc.createColors(false),
      stdin: () => Promise.resolve(''),
    };
    const commands = (await createProgram(context, async () => {})).commands.map((command) => command.name());
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
      expect(fixed).toEqual(FIXED_OF[PROCESSES[process] ?? '']);
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
      expect([has('SERVICE_TOKEN'), has('NOTIFY_SECRETS'), has('CALLBACK_SECRETS')]).toEqual([true, true, true]);
      const onlyOfGateways = ['GATEWAY_TOKENS', 'WEBHOOK_SECRETS', 'SETTLEMENT_SECRETS', 'OIDC_ISSUER'].map(has);
      expect(new Set(onlyOfGateways)).toEqual(new Set([process === 'gateway']));
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

  it('sets Temporal up and brings the store up to date before gateways and workers start', () => {
    expect(compose.services['temporal-setup']?.command).toEqual(['temporal', 'setup']);
    for (const [, { depends_on }] of gatewayAndWorker) {
      expect(Object.keys(depends_on ?? {})).toEqual(['migrate', 'temporal-setup']);
    }
  });

  it('migrates as the role that owns the tables, and gives gateways and workers another one', () => {
    const urlOf = (name: string) => filledIn(compose.services[name]?.environment?.['DATABASE_URL'] ?? '', DOT_ENV);
    expect(urlOf('migrate')).toBe('postgres://towline_owner:letters0anddigits@database:5432/towline');
    expect(compose.services['migrate']?.command).toEqual(['migrate', '--grant-to', 'towline']);
    const urls = gatewayAndWorker.map(([name]) => urlOf(name));
    expect(new Set(urls)).toEqual(new Set(['postgres://towline:letters1anddigits@database:5432/towline']));
  });

  it('gives no container a capability that it keeps, or memory and logs without a limit, and ours no disk but their volumes', () => {
    for (const [name, service] of services) {
      const { cap_drop: dropped, security_opt: options, mem_limit: memory, logging } = service;
      expect([name, dropped, options, memory, Object.keys(logging?.options ?? {})]).toEqual([
        name,
        ['ALL'],
        ['no-new-privileges:true'],
        '1g',
        ['max-size', 'max-file'],
      ]);
    }
    expect(ours.filter(([, { read_only: isReadOnly }]) => isReadOnly !== true)).toEqual([]);
  });

  it('keeps databases and Temporal in networks without a way out, and publishes on this machine alone, by settings', () => {
    expect(compose['networks']).toEqual({ data: { internal: true }, control: { internal: true }, edge: null });
    const inside = ['database', 'temporal-database', 'temporal'].flatMap(
      (name) => compose.services[name]?.networks ?? [],
    );
    expect(inside).not.toContain('edge');
    const published = services.flatMap(([, { ports = [] }]) => ports);
    expect(published.filter((port) => !/^\$\{[A-Z_]+_PUBLISHED:-127\.0\.0\.1:\d+\}:\d+$/.test(port))).toEqual([]);
    expect(published).toHaveLength(6);
  });

  it('asks by TCP whether a Postgres is ready, as its first initialisation does not listen there', () => {
    for (const name of ['database', 'temporal-database']) {
      expect(compose.services[name]?.healthcheck?.test).toContain('--host=127.0.0.1');
    }
  });

  it('labels each container with the hash of its configuration, so that a changed one makes a new container', () => {
    const configs = compose['configs'] as Readonly<Record<string, { readonly content: string }>>;
    const used = services.flatMap(([, { configs: own = [], labels }]) =>
      own.map(({ source }) => [source, labels] as const),
    );
    expect(used.map(([source]) => source).toSorted()).toEqual(Object.keys(configs).toSorted());
    for (const [source, labels] of used) {
      const hash = createHash('sha256')
        .update(configs[source]?.content ?? '')
        .digest('hex')
        .slice(0, 16);
      expect([source, labels]).toEqual([source, { 'towline.config-sha256': hash }]);
    }
  });

  it('runs the versions of Temporal and its UI that the tests run', () => {
    const modules = read('tools/temporal/go.mod');
    const versionOf = (module: string) => new RegExp(`${module} v(\\S+)`).exec(modules)?.[1];
    expect(compose.services['temporal']?.image).toBe(`temporalio/server:${versionOf('go.temporal.io/server')}`);
    expect(compose.services['temporal-schema']?.image).toBe(
      `temporalio/admin-tools:${versionOf('go.temporal.io/server')}`,
    );
    expect(compose.services['temporal-ui']?.image).toBe(
      `temporalio/ui:${versionOf('github.com/temporalio/ui-server/v2')}`,
    );
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
    for (const [name, service] of processes) {
      const graceMs = graceMsOf(PROCESSES[name] ?? 'worker', settingsOf(service, DOT_ENV));
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
    expect(entry('worker-money')).toEqual(forwarding('8401:sandbox:8401'));
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
    expect(stages[0]).toMatch(/^RUN .*\n.*npm ci /m);
    expect(stages[1]).toMatch(/^USER node$/m);
    expect(stages[1]?.split(/^HEALTHCHECK /m)[1]).toContain('${process.env.GATEWAY_PORT || 8400}/readyz/intake');
  });

  it('makes an image that is not for development, of an allow-list of files', () => {
    expect(dockerfile).toMatch(/^ENV .*\bDEVELOPMENT=false\b/m);
    const rules = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(rules[0]).toBe('*');
    expect(rules).toContain('**/.env*');
  });
});

import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { readSettings } from '../../../src/config/index.js';
import { SECRET_SETTINGS } from '../../../src/config/table/index.js';
import { packageRoot } from '../../../src/package-root.js';
import { goPrograms } from '../../setup/go-programs.js';
import { mustRun, runProgram } from '../run-program.js';
import { publicTools } from './python.js';
import { secretBytes } from '../../harness/secrets.js';

// The first run on a machine builds Helm.
jest.setTimeout(600_000);

const CHART = join(packageRoot(), 'tools', 'helm', 'towline');
/** The oldest that the chart allows, and the newest that the validator knows. */
const KUBERNETES = ['1.25', '1.37'];
const NEEDED = [
  'settings.SERVICE_BASE_URL=https://service.example',
  'settings.PUBLIC_URL=https://towline.example',
  'settings.TEMPORAL_ADDRESS=temporal:7233',
];
const OPTIONS = [
  'gateway.ingress.enabled=true',
  'gateway.ingress.className=nginx',
  'gateway.ingress.host=towline.example',
  'gateway.ingress.tlsSecret=towline-tls',
  `image.digest=sha256:${'0'.repeat(64)}`,
  'imagePullSecrets[0].name=registry',
  'workers[0].name=flows',
  'workers[0].replicas=2',
  'workers[0].queues={flows,callbacks}',
  'workers[1].name=money',
  'workers[1].replicas=3',
  'workers[1].queues={money,lookups}',
  'nodeSelector.pool=payments',
  'tolerations[0].operator=Exists',
  'migrate.enabled=false',
  'podAnnotations.team=payments',
  'gateway.ingress.annotations.team=payments',
  'gateway.inboundService.type=LoadBalancer',
  'networkPolicy.enabled=true',
  'networkPolicy.inbound[0].namespaceSelector.matchLabels.name=ingress',
  'podMonitor.enabled=true',
  'extraVolumes[0].name=ca',
  'extraVolumes[0].secret.secretName=ca',
  'extraVolumeMounts[0].name=ca',
  'extraVolumeMounts[0].mountPath=/etc/ca',
  'extraEnv[0].name=NODE_EXTRA_CA_CERTS',
  'extraEnv[0].value=/etc/ca/ca.pem',
];

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly template?: { readonly spec: Pod } };
}

interface Published extends Pick<Resource, 'kind' | 'metadata'> {
  readonly spec?: {
    readonly type?: string;
    readonly ports?: readonly object[];
    readonly ingress?: readonly object[];
    readonly podMetricsEndpoints?: readonly object[];
    readonly rules?: readonly { readonly http: { readonly paths: readonly object[] } }[];
  };
}

interface Pod {
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly env?: readonly { readonly name: string; readonly value: string }[];
    readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  }[];
  readonly volumes: readonly { readonly secret?: { readonly items: readonly { readonly path: string }[] } }[];
}

const tools = await publicTools();

(tools === undefined ? describe.skip : describe)('the Helm chart', () => {
  let helm: string;
  let folder: string;
  beforeAll(async () => {
    const program = { program: 'helm.sh/helm/v3/cmd/helm', of: 'helm.sh/helm/v3' };
    helm = (await goPrograms('Helm', 'helm', { helm: program }, console.error)).helm;
    folder = await mkdtemp(join(tmpdir(), 'towline-helm-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const template = (values: readonly string[], kubernetes = '1.30') => {
    const set = values.flatMap((value) => ['--set', value]);
    return runProgram(helm, ['template', 'payments', CHART, '--kube-version', kubernetes, ...set], { cwd: folder });
  };
  const render = async (values: readonly string[], kubernetes?: string): Promise<string> => {
    const { code, out, all } = await template(values, kubernetes);
    if (code !== 0) throw new Error(all);
    return out;
  };
  const resourcesOf = (rendered: string) => parseAllDocuments(rendered).map((one) => one.toJS() as Resource);

  it.each(KUBERNETES)(
    'makes resources that Kubernetes %s takes, with its defaults and with every option',
    async (version) => {
      const validator = join(dirname(tools?.python ?? ''), 'kubernetes-validate');
      const judge = async (rendered: string) => {
        await writeFile(join(folder, 'rendered.yaml'), rendered);
        return runProgram(validator, ['-k', version, '--strict', 'rendered.yaml'], { cwd: folder });
      };
      await mustRun(
        helm,
        ['lint', '--strict', CHART, '--kube-version', version, ...NEEDED.flatMap((value) => ['--set', value])],
        {
          cwd: folder,
        },
      );
      for (const values of [NEEDED, [...NEEDED, ...OPTIONS]]) {
        const rendered = await render(values, version);
        // The Prometheus Operator's own kind has no schema among Kubernetes' own.
        const ofKubernetes = rendered.split(/^---$/m).filter((one) => !one.includes('kind: PodMonitor'));
        expect(await judge(ofKubernetes.join('---\n'))).toMatchObject({ code: 0 });
      }
      const wrong = (await render(NEEDED, version)).replace('terminationGracePeriodSeconds', 'terminationGrace');
      expect(await judge(wrong)).toMatchObject({ code: 1, all: expect.stringContaining('terminationGrace') });
    },
  );

  it('has a gateway, workers of money alone and of the rest, a migration before them, and each option where it belongs', async () => {
    const kinds = (resources: readonly Resource[]) =>
      resources.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted();
    expect(kinds(resourcesOf(await render(NEEDED)))).toEqual([
      'ConfigMap payments-towline',
      'ConfigMap payments-towline-migrate',
      'Deployment payments-towline-gateway',
      'Deployment payments-towline-worker-money',
      'Deployment payments-towline-worker-other',
      'Job payments-towline-migrate',
      'PodDisruptionBudget payments-towline-gateway',
      'PodDisruptionBudget payments-towline-worker-money',
      'PodDisruptionBudget payments-towline-worker-other',
      'Service payments-towline-gateway',
      'Service payments-towline-inbound',
    ]);
    expect(kinds(resourcesOf(await render([...NEEDED, ...OPTIONS])))).toEqual([
      'ConfigMap payments-towline',
      'Deployment payments-towline-gateway',
      'Deployment payments-towline-worker-flows',
      'Deployment payments-towline-worker-money',
      'Ingress payments-towline-gateway',
      'NetworkPolicy payments-towline-gateway',
      'NetworkPolicy payments-towline-worker',
      'PodDisruptionBudget payments-towline-gateway',
      'PodDisruptionBudget payments-towline-worker-flows',
      'PodDisruptionBudget payments-towline-worker-money',
      'PodMonitor payments-towline-gateway',
      'PodMonitor payments-towline-worker',
      'Service payments-towline-gateway',
      'Service payments-towline-inbound',
    ]);
  });

  it('publishes webhooks and callbacks alone: by the Ingress, by a load balancer, and past a NetworkPolicy', async () => {
    const resources = resourcesOf(await render([...NEEDED, ...OPTIONS])) as unknown as readonly Published[];
    const of = (kind: string, name: string) =>
      resources.find((one) => one.kind === kind && one.metadata.name === `payments-towline-${name}`)?.spec;
    expect(of('Service', 'gateway')).toMatchObject({ type: 'ClusterIP', ports: [{ port: 8400 }] });
    expect(of('Service', 'inbound')).toMatchObject({ type: 'LoadBalancer', ports: [{ port: 8404 }] });
    expect(of('Ingress', 'gateway')?.rules?.[0]?.http.paths).toMatchObject([
      { backend: { service: { name: 'payments-towline-inbound', port: { name: 'inbound' } } } },
    ]);
    const ofTheNamespace = [{ podSelector: {} }];
    expect(of('NetworkPolicy', 'gateway')?.ingress).toEqual([
      { ports: [{ port: 'http' }], from: ofTheNamespace },
      { ports: [{ port: 'inbound' }], from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }] },
    ]);
    expect(of('NetworkPolicy', 'worker')?.ingress).toEqual([{ ports: [{ port: 'metrics' }], from: ofTheNamespace }]);
    expect(of('PodMonitor', 'gateway')?.podMetricsEndpoints).toMatchObject([
      { port: 'http', authorization: { credentials: { name: 'towline', key: 'METRICS_TOKEN' } } },
    ]);
  });

  it('keeps its settings in the release, so that a rollback brings them back, and gives the migration a copy before it', async () => {
    const resources = resourcesOf(await render(NEEDED));
    const maps = resources.filter(({ kind }) => kind === 'ConfigMap');
    expect(maps.map(({ metadata: { name, annotations } }) => [name, annotations?.['helm.sh/hook']])).toEqual([
      ['payments-towline', undefined],
      ['payments-towline-migrate', 'pre-install,pre-upgrade'],
    ]);
    expect(maps[1]?.data).toEqual(maps[0]?.data);
    const containers = resources.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);
    const settingsOf = containers.map(({ args, envFrom = [] }) => `${args[0]}: ${envFrom[0]?.configMapRef.name}`);
    expect(settingsOf.toSorted()).toEqual([
      'gateway: payments-towline',
      'migrate: payments-towline-migrate',
      'worker: payments-towline',
      'worker: payments-towline',
    ]);
  });

  it('migrates as the owner of the tables if it is given one, and leaves nothing of that after an uninstallation', async () => {
    const resources = resourcesOf(await render([...NEEDED, 'migrate.ownerKey=OWNER_URL', 'migrate.grantTo=towline']));
    const job = resources.find(({ kind }) => kind === 'Job')?.spec?.template?.spec;
    expect(job?.containers[0]).toMatchObject({
      args: ['migrate', '--grant-to', 'towline'],
      env: [{ name: 'DATABASE_URL_FILE', value: '/run/secrets/towline/OWNER_URL' }],
      resources: { limits: expect.anything() },
    });
    const hooks = resources.flatMap(({ metadata }) => metadata.annotations?.['helm.sh/hook-delete-policy'] ?? []);
    expect(hooks).toEqual(Array(2).fill('before-hook-creation,hook-succeeded'));
  });

  it.each([
    ['30.0', 60],
    ['90.0', 115],
  ])('gives a process time to end that follows SERVICE_TIMEOUT (%s s)', async (timeout, grace) => {
    const rendered = await render([...NEEDED, `settings.SERVICE_TIMEOUT=${timeout}`]);
    const found = [...rendered.matchAll(/terminationGracePeriodSeconds: (\d+)/g)].map(([, seconds]) => Number(seconds));
    expect(found).toEqual([grace, grace, grace]);
  });

  it('gives each process settings that it takes, with its own secrets alone, in files', async () => {
    const secrets = {
      DATABASE_URL: 'postgres://towline:secret@db.example/towline?sslmode=verify-full',
      PAYLOAD_KEYS: `k1:${secretBytes(1).toString('base64')}`,
      GATEWAY_TOKENS: 'backend:flows:secret-of-the-backend-00',
      SERVICE_TOKEN: 'a-token',
      SETTLEMENT_SECRETS: `whsec_${secretBytes(1, 24).toString('base64')}`,
      CALLBACK_SECRETS: `whsec_${secretBytes(2, 24).toString('base64')}`,
    };
    for (const [name, value] of Object.entries(secrets)) {
      await writeFile(join(folder, name), value);
      await chmod(join(folder, name), 0o440);
    }
    const resources = resourcesOf(
      await render([
        ...NEEDED,
        'secret.keys={DATABASE_URL,PAYLOAD_KEYS,SERVICE_TOKEN}',
        'secret.gatewayKeys={GATEWAY_TOKENS,SETTLEMENT_SECRETS}',
        'secret.workerKeys={CALLBACK_SECRETS}',
        'gateway.settings.SETTLEMENT_TRUST=signed',
      ]),
    );
    const map = resources.find(({ kind }) => kind === 'ConfigMap');
    const both = ['DATABASE_URL', 'PAYLOAD_KEYS', 'SERVICE_TOKEN'];
    const secretsOf = {
      gateway: [...both, 'GATEWAY_TOKENS', 'SETTLEMENT_SECRETS'],
      worker: [...both, 'CALLBACK_SECRETS'],
      migrate: both,
    };
    const documented = await readFile(join(packageRoot(), 'docs', 'settings.md'), 'utf8');
    const known = [...documented.matchAll(/^\| `([A-Z_]+)` /gm)].map(([, name]) => name);
    for (const [process, needed] of Object.entries(secretsOf)) {
      const pods = resources.flatMap(({ spec }) => spec?.template?.spec ?? []);
      const pod = pods.find(({ containers }) => containers.some(({ args }) => args[0] === process));
      const mounted = pod?.volumes.flatMap(({ secret }) => secret?.items ?? []).map(({ path }) => path);
      expect([process, mounted]).toEqual([process, needed]);
      const own = pod?.containers.flatMap(({ env = [] }) => env).map(({ name, value }) => [name, value] as const) ?? [];
      const env = [...Object.entries(map?.data ?? {}), ...own].map(([name, value]) => {
        return [name, value.replace('/run/secrets/towline', folder)] as const;
      });
      const files = env.filter(([, value]) => value.startsWith(folder)).map(([name]) => name);
      expect(files).toEqual(needed.map((name) => `${name}_FILE`));
      expect(readSettings(Object.fromEntries(env))).toMatchObject({
        development: false,
        serviceIsSandbox: false,
        databaseUrl: secrets.DATABASE_URL,
        gatewayTokens: process === 'gateway' ? [expect.objectContaining({ name: 'backend' })] : [],
      });
      const names = env.map(([name]) => name.replace(/_FILE$/, ''));
      expect(names.filter((name) => !known.includes(name) && !name.startsWith('TEMPORAL_'))).toEqual([]);
    }
  });

  it('refuses what would not start, and a secret among the settings that anyone can read', async () => {
    const refused = async (...values: string[]) => expect(await template(values)).toMatchObject({ code: 1 });
    await refused();
    await refused(...NEEDED, 'settings.TEMPORAL_ADDRESS=https://temporal');
    await refused(...NEEDED, 'secret.keys={DATABASE_URL}');
    await refused(...NEEDED, 'secret.keys={PAYLOAD_KEYS}');
    await refused(...NEEDED, 'workers[0].queues={cash}');
    await refused(...NEEDED, 'secret.keys={DATABASE_URL,GATEWAY_TOKENS}');
    await refused(...NEEDED, 'secret.workerKeys={WEBHOOK_SECRETS}');
    await refused(...NEEDED, 'settings.OIDC_ISSUER=https://login.example');
    await refused(...NEEDED, 'settings.SETTLEMENT_TRUST=signed');
    await refused(...NEEDED, 'gateway.settings.GATEWAY_TOKENS=x');
    for (const name of SECRET_SETTINGS.keys()) {
      const { code, all } = await template([...NEEDED, `settings.${name}=x`]);
      expect([name, code, all.includes(name)]).toEqual([name, 1, true]);
    }
    const chart = await readFile(join(CHART, 'Chart.yaml'), 'utf8');
    expect(chart).toContain(`kubeVersion: '>=${KUBERNETES[0]}.0-0'`);
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { parse } from 'yaml';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import { packageRoot } from '../../src/package-root.js';
import { rootSpanIdOf, traceIdOf } from '../../src/tracing.js';
import { transferInput } from '../harness/inputs.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';
import { hasPrometheus, startPrometheus, type Evaluated } from './prometheus.js';

jest.setTimeout(300_000);

const STARTS_WITHIN_MS = 120_000;
const PARKED_ALERT = 'TowlineFlowsParked';
const folder = join(packageRoot(), 'tools', 'observability');
/** The SDK shows them from their first failure on. */
const FROM_FIRST_FAILURE = ['temporal_workflow_task_execution_failed_total'];

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly links?: readonly { readonly traceId: string }[];
}
/** An OpenTelemetry collector that keeps the spans it receives; it receives callbacks, too. */
const spans: Span[] = [];
const exported: string[] = [];
const callbacks: (string | undefined)[] = [];
let collector: Server;

const started: ChildProcess[] = [];
let scratch: string;
let ports: Record<'gateway' | 'sandbox' | 'worker' | 'prometheus', number>;
const url = (of: keyof typeof ports, path: string) => `http://127.0.0.1:${ports[of]}${path}`;
const AUTH = { authorization: 'Bearer dev-token', 'content-type': 'application/json' };

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'towline-monitoring-'));
  collector = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      response.end('{}');
      const text = Buffer.concat(parts).toString();
      if (request.url !== '/v1/traces') callbacks.push(request.headers['traceparent'] as string | undefined);
      else if (request.headers['x-tenant'] === 'pay ments') {
        exported.push(text);
        const { resourceSpans } = JSON.parse(text) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
        spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)));
      }
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const [gateway, sandbox, worker, prometheus] = await Promise.all(Array.from({ length: 4 }, anyFreePort));
  ports = { gateway: gateway ?? 0, sandbox: sandbox ?? 0, worker: worker ?? 0, prometheus: prometheus ?? 0 };
  const towline = spawn(process.execPath, [join(packageRoot(), 'tools', 'start.mjs'), '--no-demo'], {
    cwd: scratch,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      TOWLINE_HOME: join(scratch, 'home'),
      TEMPORAL_CLI_PATH: process.env['TEST_TEMPORAL_CLI'] ?? '',
      GATEWAY_PORT: String(ports.gateway),
      SANDBOX_PORT: String(ports.sandbox),
      WORKER_METRICS_PORT: String(ports.worker),
      OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl(),
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=pay%20ments',
      LOG_LEVEL: 'debug',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  started.push(towline);
  await until(
    'gateway and worker to be scraped',
    async () => (await scrape().catch(() => '')).includes('temporal_worker_task_slots_available'),
    STARTS_WITHIN_MS,
  );
});
afterAll(async () => {
  // What `npm start` started ends with it.
  await Promise.all(
    started.map(async (child) => {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      await ended;
    }),
  );
  collector.close();
  await rm(scratch, { recursive: true, force: true });
});

const collectorUrl = () => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

async function scrape(): Promise<string> {
  const answers = await Promise.all([
    fetch(url('gateway', '/metrics'), { headers: AUTH }),
    fetch(url('worker', '/metrics')),
  ]);
  return (await Promise.all(answers.map((answer) => answer.text()))).join('\n');
}

/** A transfer that the sandbox's provider settles, or whose settlement has a wrong amount, so that it parks. */
async function transfer(reference: string, amount: string, more: object = {}, headers: object = {}): Promise<void> {
  await start('bridge-transfer', transferInput(reference, { amount, ...more }), headers);
}

/** Waits until the transfer is parked; then a person accepts the event with the wrong amount, so that it goes on. */
async function decide(reference: string): Promise<void> {
  const flow = url('gateway', `/flows/bridge-transfer/${reference}`);
  const stateOf = async () => ((await (await fetch(flow, { headers: AUTH })).json()) as { state: string }).state;
  await until(`${reference} to be parked`, async () => (await stateOf()) === 'parked');
  const answer = await fetch(`${flow}/resolve`, {
    method: 'POST',
    headers: AUTH,
    body: JSON.stringify({ action: 'accept-event', note: 'the provider is right' }),
  });
  expect(answer.status).toBe(200);
}

async function start(kind: string, input: object, headers: object = {}): Promise<void> {
  const answer = await fetch(url('gateway', `/flows/${kind}`), {
    method: 'POST',
    headers: { ...AUTH, ...headers },
    body: JSON.stringify(input),
  });
  expect(answer.status).toBe(201);
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
}
interface Panel {
  readonly title: string;
  readonly expr: string;
  readonly legendFormat: string;
}
async function expressions(): Promise<{ readonly rules: readonly Rule[]; readonly panels: readonly Panel[] }> {
  const { groups } = parse(await readFile(join(folder, 'alerts.yml'), 'utf8')) as { groups: { rules: Rule[] }[] };
  const { panels } = JSON.parse(await readFile(join(folder, 'grafana', 'dashboards', 'towline.json'), 'utf8')) as {
    panels: { title: string; targets?: Omit<Panel, 'title'>[] }[];
  };
  const shown = panels.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
  return { rules: groups.flatMap(({ rules }) => rules), panels: shown };
}

test('every metric of the dashboard, the rules and the docs is in a real scrape of gateway and worker', async () => {
  await transfer('scraped-1', '1000.50');
  await fetch(url('gateway', '/flows/bridge-transfer/scraped-1/wait?timeoutSeconds=300'), { headers: AUTH });
  const { rules, panels } = await expressions();
  const docs = await readFile(join(packageRoot(), 'docs', 'monitoring.md'), 'utf8');
  const text = [...rules.map(({ expr }) => expr), ...panels.map(({ expr }) => expr), docs].join('\n');
  const named = new Set([...text.matchAll(/\b(?:towline|temporal)_[a-z_]+\b/g)].map(([name]) => name));
  // Shown while some flow is parked or on its way.
  await transfer('scraped-2', '1000.22');
  let missing: readonly string[] = [];
  const allAreThere = async () => {
    const shown = await scrape();
    missing = [...named].filter((name) => !new RegExp(`^(# TYPE )?${name}\\b`, 'm').test(shown));
    return missing.every((name) => FROM_FIRST_FAILURE.includes(name));
  };
  await until(() => `these to be there: ${missing.join(', ')}`, allAreThere);
  expect(named.size).toBeGreaterThan(25);
  expect(await scrape()).not.toContain('scraped-');
});

test('a flow that parks makes its alert fire in a real Prometheus, and a decision clears it', async () => {
  if (!hasPrometheus()) return;
  const { rules } = await expressions();
  const prometheus = await prometheusOnce();
  await until('the rules to be loaded', async () => (await prometheus.rules()).length === rules.length, 60_000);
  await until(
    'each rule to be evaluated',
    async () => (await prometheus.rules()).every(({ health }) => health === 'ok'),
    60_000,
  );
  const becomes = (state: Evaluated['state']) =>
    until(
      `the alert to be ${state}`,
      async () => (await prometheus.rules()).some((rule) => rule.name === PARKED_ALERT && rule.state === state),
      90_000,
    );
  await decide('scraped-2');
  await becomes('inactive');

  const fromMs = performance.now();
  await transfer('alerted', '1000.22');
  await becomes('firing');
  console.log(`ordered → alert fires: ${Math.round(performance.now() - fromMs)} ms`);
  const parked = rules.find(({ alert }) => alert === PARKED_ALERT)?.expr ?? '';
  expect(await prometheus.query(parked)).toContain('event_mismatch');
  await decide('alerted');
  await becomes('inactive');
  const firing = (await prometheus.rules()).filter(({ state }) => state === 'firing');
  expect(firing.map(({ name }) => name)).not.toContain('TowlineNoWorker');
  expect(firing.map(({ name }) => name)).not.toContain('TowlineNoGateway');
});

test('every panel of the dashboard shows data in that Prometheus, with the labels of its legend', async () => {
  if (!hasPrometheus()) return;
  const prometheus = await prometheusOnce();
  const { panels } = await expressions();
  await fetch(url('sandbox', '/_sandbox/faults'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ operation: 'getCryptoSend', kind: 'error-before', first: 1 }),
  });
  await start('crypto-send', cryptoSend.input('looked-up'));
  const errors = panels.find(({ title }) => title === 'Errors per operation')?.expr ?? '';
  const rated = (expr: string) => expr.replaceAll('$__rate_interval', '1m');
  await until('a lookup with an error', async () => (await prometheus.range(rated(errors))).length > 0);
  let empty: readonly string[] = [];
  const allShow = async () => {
    const problems = await Promise.all(
      panels.map(async ({ title, expr, legendFormat }) => {
        const series = await prometheus.range(rated(expr));
        const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
        const isShown = series.some((labelled) => labels.every((name) => name in labelled));
        return isShown ? [] : [`${title}: ${series.length} series, without ${labels.join(', ')}`];
      }),
    );
    empty = problems.flat();
    return empty.length === 0;
  };
  // Some show what is under way, and a rate needs two scrapes since its value changed.
  await transfer('under-way', '1000.22');
  await until(() => `panels with data: ${empty.join('; ')}`, allShow);
  await decide('under-way');
  expect(panels.length).toBeGreaterThan(25);
});

test('an origin that answers no callback is counted as an open circuit, until it answers', async () => {
  const port = await anyFreePort();
  const callbackUrl = `http://127.0.0.1:${port}/callback`;
  await transfer('unheard', '1000.50', { callbackUrl });
  const open = async () => {
    const shown = [...(await scrape()).matchAll(/^towline_callback_circuits_open\{[^}]*\} (\d+)$/gm)];
    return shown.reduce((sum, [, value]) => sum + Number(value), 0);
  };
  await until('the circuit to be open', async () => (await open()) === 1);
  const receiver = createServer((_, response) => response.end()).listen(port, '127.0.0.1');
  await transfer('heard', '1000.50', { callbackUrl });
  await until('the circuit to be closed', async () => (await open()) === 0, 120_000);
  receiver.close();
});

test('a flow is one trace, from its start over calls of the service and webhooks to the callback that its caller gets, and each log line about it has the id', async () => {
  const flowId = 'bridge-transfer/traced';
  const caller = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16) };
  const traceparent = `00-${caller.traceId}-${caller.spanId}-01`;
  await transfer('traced', '1000.50', { callbackUrl: `${collectorUrl()}/callback` }, { traceparent });
  const ofFlow = () => spans.filter(({ traceId }) => traceId === traceIdOf(flowId));
  const names = () => new Set(ofFlow().map(({ name }) => name));
  const wanted = [
    'flow bridge-transfer',
    'start flow',
    'activity submitBridgeDeposit',
    'service createBridgeDeposit',
    'receive event',
    'signal events',
    'activity deliverCallback',
    'send callback',
  ];
  const isThere = () => wanted.every((name) => names().has(name));
  await until(() => `these spans to be there: ${wanted.filter((name) => !names().has(name)).join(', ')}`, isThere);

  const [root, ...others] = ofFlow().filter(({ name }) => name === 'flow bridge-transfer');
  expect(others).toEqual([]);
  expect(root).toMatchObject({ spanId: rootSpanIdOf(flowId), links: [{ traceId: caller.traceId }] });
  expect(root?.parentSpanId ?? '').toBe('');
  const ids = new Set(ofFlow().map(({ spanId }) => spanId));
  expect(ofFlow().filter((span) => span !== root && !ids.has(span.parentSpanId ?? ''))).toEqual([]);
  const submit = ofFlow().find(({ name }) => name === 'activity submitBridgeDeposit');
  const call = ofFlow().find(({ name }) => name === 'service createBridgeDeposit');
  expect(call?.parentSpanId).toBe(submit?.spanId);
  const sent = ofFlow().filter(({ name }) => name === 'send callback');
  expect(sent.map(({ spanId }) => `00-${traceIdOf(flowId)}-${spanId}-01`)).toContain(callbacks[0]);
  // No span contains the content of a transfer.
  expect(exported.join()).not.toMatch(/1000\.50|dev-token/);

  // The path of this request names the flow.
  await fetch(url('gateway', `/flows/${flowId}`), { headers: AUTH });
  for (const name of ['gateway', 'worker']) {
    const lines = await until(`the ${name} to log the flow`, async () => {
      const ofFlows = await linesAboutFlows(name);
      return ofFlows.some((line) => line.flowId === flowId) && ofFlows;
    });
    expect(lines.filter((line) => line.trace_id !== traceIdOf(line.flowId))).toEqual([]);
  }
});

interface LineAboutFlow {
  readonly flowId: string;
  readonly trace_id?: string;
}

/** Lines of a process's log that name any flow. */
async function linesAboutFlows(name: string): Promise<readonly LineAboutFlow[]> {
  const text = await readFile(join(scratch, 'home', 'logs', `${name}.log`), 'utf8');
  // The last line may be half written.
  const lines = text.split('\n').slice(0, -1);
  return lines
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Partial<LineAboutFlow>)
    .filter((line): line is LineAboutFlow => line.flowId !== undefined);
}

let running: ReturnType<typeof openPrometheus> | undefined;
const prometheusOnce = () => (running ??= openPrometheus());

async function openPrometheus() {
  const prometheus = await startPrometheus({ home: join(scratch, 'prometheus'), ports, firesSoon: PARKED_ALERT });
  started.push(prometheus.child);
  return prometheus;
}

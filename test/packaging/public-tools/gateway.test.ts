import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SEARCH_ATTRIBUTES } from '../../../src/protocol/vocabulary.js';
import { startDevServer, type DevServer } from '../../../src/dev-server/dev-server.js';
import { KINDS } from '../../harness/kinds.js';
import { publicTools } from './python.js';
import { fuzz, neverTaken, summaryOf } from './schemathesis.js';
import { openStack, type Stack } from '../../end-to-end/stack.js';

const tools = await publicTools();
const onlyWithTools = tools === undefined ? describe.skip : describe;
const REFERENCE = 'fuzzed-1';
/** Endpoints that accept a call only for a flow that waits for it. */
const ORDER = /^POST \/flows\/\{kind\}\/\{reference\}\/|^POST \/events\/\{id\}\/withdraw$/;
const lastPartOf = (path: string) => path.split('/').at(-1) ?? '';

onlyWithTools('schemathesis against the gateway', () => {
  let folder: string;
  let server: DevServer;
  let stack: Stack;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towline-fuzz-'));
    // A separate server: a fuzzer's flows may have any reference, including those of other tests.
    server = await startDevServer({
      executable: process.env['TEST_TEMPORAL_CLI'] ?? '',
      home: folder,
      port: 0,
      uiPort: false,
      searchAttributes: SEARCH_ATTRIBUTES,
      log: () => {},
    });
    const env = { GATEWAY_RATE_LIMIT: '0', UNPROVEN_RATE_LIMIT: '0', PROXY_TIMEOUT: '1' };
    stack = await openStack({ env, temporalAddress: server.address, isReconciled: false });
    // The account's webhooks go to the fuzzer's URL: nowhere. Callbacks go to the gateway, whose own are not sent here.
    await stack.control('POST', '/adversary', { stream: 'webhook', drop: 1 });
  });
  afterAll(async () => {
    await stack?.close();
    await server?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('finds no server error, and no answer that its API reference does not describe', async () => {
    for (const { kind, input } of KINDS) {
      const { status } = await stack.post(`/flows/${kind}`, input(REFERENCE));
      expect(status).toBe(201);
    }
    await stack.get(`/flows/bridge-transfer/${REFERENCE}/wait?timeoutSeconds=300`);
    const { body: inbox } = await stack.get('/events');
    const document = (await stack.get('/openapi.json')).body;
    const { settlement = '', webhook } = stack.gateway.inbound;
    const callback = stack.callbackPath(REFERENCE);
    const { report, said } = await fuzz({
      schemathesis: tools?.schemathesis ?? '',
      document,
      url: stack.url,
      scheme: 'token',
      token: 'dev-token',
      maxExamples: 3,
      known: {
        kind: ['bridge-transfer'],
        reference: [REFERENCE],
        referenceId: [REFERENCE],
        reference_id: [REFERENCE],
        kycId: [REFERENCE],
        id: inbox['events'].map(({ id }: { id: string }) => id),
      },
      // The corners of the service's bodies, and broken ones, are tried on the sandbox. And it would wait as long as it
      // may.
      settings: `
[phases.coverage.generation]
mode = "positive"

[[operations]]
include-name-regex = "^POST /api/"
phases.coverage.enabled = false

[[operations]]
include-path = "/flows/{kind}/{reference}/wait"
parameters = { timeoutSeconds = 0.1 }

[[operations]]
include-path = "/settlements/{capability}"
parameters = { capability = "${lastPartOf(settlement)}" }

[[operations]]
include-path = "/webhooks/{capability}"
parameters = { capability = "${lastPartOf(webhook)}" }

[[operations]]
include-path = "/callbacks/{kind}/{reference}/{capability}"
parameters = { kind = "bridge-transfer", reference = "${REFERENCE}", capability = "${lastPartOf(callback)}" }
`,
    });
    process.stderr.write(`schemathesis, gateway: ${summaryOf(report)}\n`);
    if (report.failures.length > 0 || report.errors.length > 0) process.stderr.write(said);
    expect(report).toMatchObject({ complete: true, failures: [], errors: [] });
    expect(report.operations.tested).toBe(report.operations.selected);
    expect(report.test_cases.generated).toBeGreaterThan(500);
    expect(neverTaken(report).filter((operation) => !ORDER.test(operation))).toEqual([]);
    // Our own bugs are logged as errors, whatever the answer; its own callbacks may contradict how the flow ended.
    const ofItsEvents = ['late_event_contradicts'];
    const errors = stack.log.filter(({ level, alarm }) => Number(level) >= 50 && !ofItsEvents.includes(String(alarm)));
    expect(errors).toEqual([]);
  }, 180_000);

  it('has moved no money twice by that', async () => {
    const { executions } = await stack.control('GET', '/executions');
    const keys = (executions as { operation: string; reference: string }[]).map(
      ({ operation, reference }) => `${operation} ${reference}`,
    );
    expect(keys.length).toBeGreaterThan(KINDS.length);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readEnvironment } from '../../src/config/environment.js';
import { CliError } from '../../src/cli/exit-codes.js';
import { gatewayAccess } from '../../src/cli/gateway-client.js';
import { secretBytes } from '../harness/secrets.js';
import { closedPort, run, scratchFolder } from './run.js';
import { startScriptedGateway } from './scripted-gateway.js';

const scratch = await scratchFolder();
const gateway = await startScriptedGateway();
const env = { GATEWAY_URL: gateway.url, TOWLINE_TOKEN: 'a-token-of-ours' };
const FLOW = 'bridge-transfer/order-1';
const OTHER_MACHINE = {
  TOWLINE_TOKEN: 'a-token-of-ours',
  PUBLIC_URL: 'https://pay.example',
  SERVICE_BASE_URL: 'https://service.example',
  SERVICE_TOKEN: 'token-of-the-service',
  GATEWAY_TOKENS: 'backend:flows:0a1b2c3d4e5f60718293a4b5',
  PAYLOAD_KEYS: `k1:${secretBytes(1).toString('base64')}`,
};

const view = (state: string, more: object = {}) => ({
  kind: 'bridge-transfer',
  reference: 'order-1',
  flowId: FLOW,
  state,
  stage: 'done',
  serviceReference: 'KOT-1',
  startedAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:01.000Z',
  deadlineAt: null,
  parked: null,
  outcome: null,
  terms: null,
  proposal: null,
  contradicted: null,
  timeline: [{ at: '2026-01-01T00:00:00.500Z', stage: 'tracking', by: 'service', detail: 'COMPLETED (signature)' }],
  ...more,
});
const parked = view('parked', {
  parked: {
    reason: 'refund_needed',
    since: '2026-01-01T00:00:01.000Z',
    actions: ['refund-now', 'mark-refunded'],
    evidence: { why: 'the input does not say refund.auto' },
  },
});

describe('the exit code of towline shows how a flow ended:', () => {
  test.each([
    ['completed', 0],
    ['refunded', 0],
    ['failed', 2],
    ['expired', 2],
    ['cancelled', 2],
    ['parked', 3],
  ])('%s is %d, by wait and by watch', async (state, code) => {
    gateway.answer(200, state === 'parked' ? parked : view(state));
    expect((await run(['wait', FLOW], env)).code).toBe(code);
    const watched = await run(['watch', FLOW], env);
    expect(watched.code).toBe(code);
    expect(watched.out).toContain('COMPLETED (signature)');
  });

  test('0 after progress on stderr, with each entry of the timeline once, and the result alone on stdout', async () => {
    const running = { status: 200, body: view('running') };
    gateway.first(running, running);
    gateway.answer(200, view('completed'));
    const { code, out, err } = await run(['wait', FLOW, '--json'], env);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ state: 'completed' });
    expect(err.split('\n').filter((line) => line.includes('COMPLETED (signature)'))).toHaveLength(1);
  });

  test('5 if the time was up before the end', async () => {
    gateway.answer(200, view('running'));
    const { code } = await run(['wait', FLOW, '--timeout', '0'], env);
    expect(code).toBe(5);
    expect(gateway.requests.at(-1)?.url).toBe(`/flows/${FLOW}/wait?timeoutSeconds=0`);
  });

  test('0 by show, whatever the state: it did what it was asked', async () => {
    gateway.answer(200, view('failed'));
    expect((await run(['show', FLOW], env)).code).toBe(0);
  });
});

test('towline start reports that the flow exists already, since nothing was sent', async () => {
  const started = (status: number) => {
    gateway.answer(status, view('running'));
    return run(['start', 'bridge-transfer', '-', '--json'], env, '{}');
  };
  const first = await started(201);
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(first.out)).toEqual(view('running'));
  expect(await started(200)).toEqual({ ...first, err: expect.stringMatching(/./) });
});

describe('towline shows a refusal by the gateway in its own words:', () => {
  test.each([
    ['cancel', 'The flow refused it: money may have moved.'],
    ['approve', 'The flow waits for no approval of a quote.'],
  ])('409 to %s exits with 1', async (order, message) => {
    gateway.answer(409, { success: false, message, data: {} });
    expect(await run([order, FLOW], env)).toEqual({ code: 1, out: '', err: message });
  });

  test('400 names each member', async () => {
    const errors = [{ path: 'amount', message: 'must be above zero' }];
    gateway.answer(400, { success: false, message: 'The input is not valid.', data: { errors } });
    const { code, err } = await run(['start', 'bridge-transfer', '-'], env, '{}');
    expect(code).toBe(1);
    expect(err.split('\n').at(-1)).toBe('  amount: must be above zero');
  });

  test('401 names the variable to set', async () => {
    gateway.answer(401, { success: false, message: 'no', data: {} });
    const { code, err } = await run(['list'], env);
    expect(code).toBe(1);
    expect(err).toContain('TOWLINE_TOKEN');
    expect(err).not.toContain('a-token-of-ours');
  });

  test('503 exits with 4', async () => {
    gateway.answer(503, { success: false, message: 'No worker took the order yet.', data: {} });
    expect(await run(['approve', FLOW], env)).toMatchObject({
      code: 4,
      err: expect.stringContaining('503'),
    });
  });
});

test('towline start passes an input on as it was written, to the last digit', async () => {
  const text = '{"provider_reference_id":"order-1","amount":9007199254740993.10}';
  const file = join(scratch, 'transfer.json');
  await writeFile(file, text);
  gateway.answer(201, view('running'));
  expect((await run(['start', 'bridge-transfer', file], env)).code).toBe(0);
  expect(gateway.requests.at(-1)).toEqual({
    method: 'POST',
    url: '/flows/bridge-transfer',
    authorization: 'Bearer a-token-of-ours',
    body: text,
  });
});

test('towline start passes an input with a byte order mark, as some editors write it, on without the mark', async () => {
  gateway.answer(201, view('running'));
  const file = join(scratch, 'marked.json');
  await writeFile(file, '\ufeff{"amount":1.50}');
  for (const [from, stdin] of [
    [file, ''],
    ['-', '\ufeff{"amount":1.50}'],
  ] as const) {
    expect((await run(['start', 'bridge-transfer', from], env, stdin)).code).toBe(0);
    expect(gateway.requests.at(-1)?.body).toBe('{"amount":1.50}');
  }
});

test('towline start --wait exits as wait does', async () => {
  gateway.answer(200, parked);
  const { code, out } = await run(['start', 'bridge-transfer', '-', '--wait'], env, '{}');
  expect(code).toBe(3);
  expect(out).toContain('refund_needed, since');
  expect(out.indexOf('refund-now')).toBeLessThan(out.indexOf('mark-refunded'));
  expect(out).toContain('refund-now');
});

/** A command line at a terminal, where a person gives this answer to every question. */
async function orderAtTerminal(args: readonly string[], answer: boolean) {
  const questions: string[] = [];
  const confirm = (question: string) => {
    questions.push(question);
    return Promise.resolve(answer);
  };
  const before = gateway.requests.length;
  const { code, err } = await run(args, env, '', confirm);
  return { code, err, questions, sent: gateway.requests.length - before };
}

test('towline resolve asks a person at a terminal before an order that can end a flow, and sends it only with a yes', async () => {
  gateway.answer(200, view('running'));
  const order = (action: string, answer: boolean, ...more: string[]) =>
    orderAtTerminal(['resolve', FLOW, action, '--note', 'seen', ...more], answer);
  const question = expect.stringMatching(new RegExp(`send-again.*${FLOW}`));
  expect(await order('send-again', false)).toMatchObject({ code: 1, questions: [question], sent: 0 });
  expect(await order('send-again', true)).toMatchObject({ code: 0, questions: [question], sent: 1 });
  expect(await order('send-again', false, '--yes')).toMatchObject({ code: 0, questions: [], sent: 1 });
  expect(await order('keep-waiting', false)).toMatchObject({ code: 0, questions: [], sent: 1 });
});

test('towline events replay asks a person at a terminal before vouching for an event, and sends it only with a yes', async () => {
  gateway.answer(200, { dryRun: false, would: 'Be delivered as trusted.', flowState: 'parked' });
  const replay = (answer: boolean, ...more: string[]) =>
    orderAtTerminal(['events', 'replay', 'evt_1', ...more], answer);
  const questions = [expect.stringMatching(/trust-event.*evt_1/)];
  const no = { code: 1, questions, sent: 0 };
  expect(await replay(false, '--trust')).toMatchObject(no);
  expect(await replay(false, '--flow', FLOW)).toMatchObject(no);
  expect(await replay(true, '--trust')).toMatchObject({ code: 0, questions, sent: 1 });
  const unasked = { code: 0, questions: [], sent: 1 };
  expect(await replay(false, '--trust', '--yes')).toMatchObject(unasked);
  expect(await replay(false, '--trust', '--dry-run')).toMatchObject(unasked);
  expect(await replay(false)).toMatchObject(unasked);
});

test('towline resolve sends its action, reason and event', async () => {
  gateway.answer(200, view('running'));
  const { code } = await run(['resolve', FLOW, 'trust-settlement', '--note', 'seen', '--event', 'evt_1'], env);
  expect(code).toBe(0);
  expect(gateway.requests.at(-1)).toMatchObject({ method: 'POST', url: `/flows/${FLOW}/resolve` });
  expect(JSON.parse(gateway.requests.at(-1)?.body ?? '')).toEqual({
    action: 'trust-settlement',
    note: 'seen',
    eventId: 'evt_1',
  });
});

test('towline pay reads the payer from a file, and passes it on as it was written', async () => {
  const text = '{"mobileMoney":{"phoneNumber":"+254700000000"},"amount":1.10}';
  gateway.answer(200, view('running'));
  expect((await run(['pay', 'invoice-payment/order-1', '-'], env, text)).code).toBe(0);
  expect(gateway.requests.at(-1)).toMatchObject({ url: '/flows/invoice-payment/order-1/pay', body: text });
});

test('towline refund-invoice sends the invoice to its flow', async () => {
  gateway.answer(200, view('running'));
  expect((await run(['refund-invoice', 'offramp/order-1', 'lnbc21u1x'], env)).code).toBe(0);
  expect(gateway.requests.at(-1)).toMatchObject({
    url: '/flows/offramp/order-1/refund-invoice',
    body: '{"invoice":"lnbc21u1x"}',
  });
});

test('towline list --json prints what the gateway answered', async () => {
  const flows = [
    {
      kind: 'bridge-transfer',
      flowId: FLOW,
      state: 'completed',
      startedAt: 'x',
      closedAt: null,
      proposed: null,
      contradicted: false,
    },
  ];
  gateway.answer(200, { flows, next: null });
  const { out } = await run(['list', '--state', 'completed', '--json'], env);
  expect(JSON.parse(out)).toEqual({ flows, next: null });
  expect(gateway.requests.at(-1)?.url).toBe('/flows?limit=50&state=completed');
});

test('towline list shows of each parked flow its reason, how long it waits and its amount, and the command for the next page', async () => {
  const row = {
    kind: 'bridge-transfer',
    reference: 'r',
    startedAt: '2026-01-01T00:00:00.000Z',
    closedAt: null,
    proposed: null,
    contradicted: false,
  };
  const since = new Date(Date.now() - 26 * 3_600_000).toISOString();
  const parked = {
    ...row,
    flowId: FLOW,
    state: 'parked',
    reason: 'no_settlement',
    since,
    amount: '90',
    currency: 'KES',
  };
  const silent = { ...parked, flowId: 'offramp/b', since: null, amount: null, currency: null };
  const running = { ...silent, flowId: 'offramp/c', state: 'running', reason: null };
  gateway.answer(200, { flows: [parked, silent, running], next: 'page-2' });
  const { out } = await run(['list', '--reason', 'no_settlement', '--after', 'page-1'], env);
  expect(gateway.requests.at(-1)?.url).toBe('/flows?limit=50&reason=no_settlement&after=page-1');
  const lines = out.split('\n');
  const [head, ...rows] = lines.slice(0, 4).map((line) => line.split(/ {2,}/));
  expect(head).toEqual(['flow', 'state', 'reason', 'for', 'amount', 'started', 'ended']);
  expect(rows).toEqual([
    [FLOW, 'parked', 'no_settlement', '1 d', '90 KES', row.startedAt],
    ['offramp/b', 'parked', 'no_settlement', expect.not.stringMatching(/\d/), row.startedAt],
    ['offramp/c', 'running', row.startedAt],
  ]);
  expect(lines[4]).toContain('--after page-2');
});

test('towline events replay --dry-run shows what a replay would do, and asks the gateway for no more', async () => {
  const would = 'Be delivered as trusted.';
  gateway.answer(200, { dryRun: true, would, flowState: 'parked' });
  const { out } = await run(['events', 'replay', 'evt_1', '--trust', '--dry-run'], env);
  expect(out).toContain(would);
  expect(JSON.parse(gateway.requests.at(-1)?.body ?? '')).toEqual({ trust: true, dryRun: true });
});

test('towline callbacks lists those that could not be delivered, and the receivers whose circuit is open, since when and for how many flows', async () => {
  const openCircuits = [{ origin: 'https://shop.example', since: '2026-01-02T03:04:05.000Z', flows: 7 }];
  gateway.answer(200, { callbacks: [], openCircuits });
  const { code, out } = await run(['callbacks'], env);
  expect(gateway.requests.at(-1)?.url).toBe('/callbacks?state=undelivered&limit=50');
  expect(code).toBe(0);
  const cells = out.split('\n').map((line) => line.split(/ {2,}/));
  expect(cells[0]).toEqual(['None.']);
  expect(cells).toContainEqual(['https://shop.example', '2026-01-02T03:04:05.000Z', '7']);
  gateway.answer(200, { callbacks: [], openCircuits: [] });
  expect((await run(['callbacks'], env)).out).toBe('None.');
});

describe('the access of towline to its gateway:', () => {
  test('no gateway at the address: exits with 4 and names what to start or to set', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    const { code, err } = await run(['list'], { GATEWAY_URL: url });
    expect(code).toBe(4);
    for (const named of [url, 'towline up', 'GATEWAY_URL']) expect(err).toContain(named);
  });

  test('on this machine the token of development is the default', async () => {
    gateway.answer(200, { flows: [], next: null });
    expect((await run(['list'], { GATEWAY_URL: gateway.url })).out).toBe('No flows.');
    expect(gateway.requests.at(-1)?.authorization).toBe('Bearer dev-token');
  });

  test('a token goes over no plain network', async () => {
    const { code, err } = await run(['list'], { GATEWAY_URL: 'http://gateway.example', TOWLINE_TOKEN: 'secret-token' });
    expect(code).toBe(1);
    expect(err).toMatch(/^GATEWAY_URL .*https/);
  });

  test('if tokens are set, one of them is needed', async () => {
    const { code, err } = await run(['list'], { GATEWAY_URL: gateway.url, GATEWAY_TOKENS: 'ada:admin:some-secret' });
    expect(code).toBe(1);
    expect(err).toContain('TOWLINE_TOKEN');
  });
});

test('towline list prints the flow that was started last first, whatever the order of Temporal', async () => {
  const row = {
    kind: 'onramp',
    reference: 'r',
    state: 'completed',
    closedAt: null,
    proposed: null,
    contradicted: false,
  };
  const flows = ['2026-01-01', '2026-01-03', '2026-01-02'].map((day) => ({
    ...row,
    flowId: `onramp/${day}`,
    amount: null,
    currency: null,
    startedAt: `${day}T00:00:00.000Z`,
  }));
  gateway.answer(200, { flows, next: null });
  const { out } = await run(['list'], env);
  expect(out.match(/onramp\/[\d-]+/g)).toEqual(['onramp/2026-01-03', 'onramp/2026-01-02', 'onramp/2026-01-01']);
});

test('towline resolve that only proposes says so first, with how another person confirms it, and exits with 6', async () => {
  const proposal = {
    id: 'ord_1',
    action: 'mark-completed',
    by: 'ann',
    note: 'seen',
    at: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-02T00:00:00.000Z',
    confirmedBy: null,
    confirm: `towline resolve ${FLOW} mark-completed --note "why"`,
    withdraw: `towline withdraw ${FLOW}`,
  };
  gateway.answer(202, { ...parked, proposal });
  const proposed = await run(['resolve', FLOW, 'mark-completed', '--note', 'seen', '--yes'], env);
  expect(proposed.code).toBe(6);
  const [first, second] = proposed.out.split('\n');
  expect(first).toContain(proposal.expiresAt);
  expect(second).toContain(proposal.confirm);
  gateway.answer(200, { ...parked, proposal: null });
  expect((await run(['resolve', FLOW, 'mark-completed', '--note', 'seen', '--yes'], env)).code).toBe(0);
});

describe('towline sends the token of its process only where the process says:', () => {
  const elsewhere = { GATEWAY_URL: 'https://198.51.100.7', TOWLINE_TOKEN: 'a-token-of-ours' };
  const fromFile = (...names: string[]) => new Set(names);

  test('not to a gateway that a file .env of the folder names', async () => {
    expect(() => gatewayAccess({ env: elsewhere, fromFile: fromFile('GATEWAY_URL') })).toThrow(CliError);
    expect(gatewayAccess({ env: elsewhere, fromFile: fromFile('GATEWAY_URL', 'TOWLINE_TOKEN') })).toMatchObject({
      token: 'a-token-of-ours',
    });
    expect(gatewayAccess({ env: elsewhere, fromFile: fromFile('TOWLINE_TOKEN') })).toMatchObject({
      url: 'https://198.51.100.7',
    });
    expect(gatewayAccess({ env, fromFile: fromFile('GATEWAY_URL') })).toMatchObject({ url: gateway.url });
  });

  test('and to another machine over https only, whichever setting names it', () => {
    expect(() => gatewayAccess({ env: { ...OTHER_MACHINE, GATEWAY_HOST: '198.51.100.7' } })).toThrow(CliError);
    expect(gatewayAccess({ env: { ...OTHER_MACHINE, GATEWAY_HOST: '0.0.0.0' } })).toMatchObject({
      url: 'http://127.0.0.1:8400',
    });
  });

  test('and no file .env names programs that run, or where they are found', async () => {
    const file = join(scratch, 'dot-env');
    await writeFile(
      file,
      'TEMPORAL_CLI_PATH=./x\nTOWLINE_CACHE=.\nNODE_OPTIONS=--require ./x\nGATEWAY_PORT=8500\nLOG_LEVEL=warn\n',
    );
    expect(readEnvironment({ LOG_LEVEL: 'info' }, file)).toEqual({
      env: { GATEWAY_PORT: '8500', LOG_LEVEL: 'info' },
      fromFile: fromFile('GATEWAY_PORT'),
    });
    expect(readEnvironment({ A: 'b' }, join(scratch, 'none'))).toEqual({ env: { A: 'b' }, fromFile: fromFile() });
  });
});

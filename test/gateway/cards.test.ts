import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createServiceClient } from '../../src/service-client/index.js';
import { createCardIntake, createCardVault } from '../../src/gateway/cards/card-intake.js';
import type { ServeCards } from '../../src/gateway/index.js';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import { startCardWorker, startWorker, type RunningWorker } from '../../src/temporal/worker.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { installRuntime } from '../../src/temporal/sdk-logger.js';
import { cardDepositInput } from '../flows/cards/card-bench.js';
import { CANARY_CARD } from '../harness/parties.js';
import { canariesIn, decryptedHistory, filesOf } from '../flows/cards/find-canaries.js';
import { until } from '../harness/until.js';
import { keyring } from '../harness/fixed.js';
import { accessOf } from '../harness/service.js';
import { sample } from './proxy/caller.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';

const dataConverter = createDataConverter({ keyring, namespace: 'default' });
const address = () => process.env['TEST_TEMPORAL_ADDRESS'] ?? '';
const card = CANARY_CARD;

describe('a card vault', () => {
  const vault = (lifeMs = 60_000, most = 2) => createCardVault({ nowMs: () => 0, lifeMs, most });
  const kept = (from: ReturnType<typeof vault>, owner = 'shop') => from.keep(card, owner);

  it('shows the first six and the last four digits at most, and names nothing of the card in its token', () => {
    const { cardToken, masked, expiresAt } = kept(vault());
    expect(masked).toBe('378282*****0005');
    expect(expiresAt).toBe('1970-01-01T00:01:00.000Z');
    expect(cardToken).toMatch(/^towline-cards-[\w-]{32}\.[\w-]{43}$/);
  });

  it('hands a card to one taker at a time, again after it was put back, and never after it was forgotten', () => {
    const cards = vault();
    const { cardToken } = kept(cards);
    expect(cards.take(cardToken)).toEqual(card);
    expect(cards.take(cardToken)).toBeUndefined();
    cards.putBack(cardToken);
    expect(cards.take(cardToken)).toEqual(card);
    cards.forget(cardToken);
    cards.putBack(cardToken);
    expect(cards.take(cardToken)).toBeUndefined();
    expect(cards.isEmpty()).toBe(true);
  });

  it('forgets a card when its time is over, even one that is taken', async () => {
    const cards = vault(30);
    const [one, other] = [kept(cards, 'one'), kept(cards, 'other')];
    cards.take(one.cardToken);
    await until('the end of its time', () => cards.isEmpty());
    cards.putBack(one.cardToken);
    expect([cards.take(one.cardToken), cards.take(other.cardToken)]).toEqual([undefined, undefined]);
  });

  it('takes only so many, and is on a queue of its own', () => {
    const cards = vault();
    kept(cards, 'one');
    kept(cards, 'another');
    expect(() => kept(cards, 'third')).toThrow(expect.objectContaining({ status: 503 }));
    cards.clear();
    expect(kept(cards, 'third').masked).toBe('378282*****0005');
    expect(vault().queue).not.toBe(vault().queue);
  });
});

describe('a gateway that is to stop', () => {
  afterEach(() => void jest.useRealTimers());

  it('takes cards for requests in flight, and after ten seconds none: no POST begins that it could not finish', async () => {
    jest.useFakeTimers();
    const serve = async () => ({ ended: new Promise<void>(() => undefined), shutdown: async () => undefined });
    const cards = createCardIntake({ serve, logger: pino({ level: 'silent' }), nowMs: () => 0 });
    const inFlight = new Promise<void>(() => undefined);
    const closing = cards.close(inFlight);
    await jest.advanceTimersByTimeAsync(9_900);
    expect(cards.keep(card, 'shop')).toBeDefined();
    await jest.advanceTimersByTimeAsync(200);
    expect(() => cards.keep(card, 'shop')).toThrow(expect.objectContaining({ status: 503 }));
    await jest.advanceTimersByTimeAsync(2_000);
    await closing;
  });
});

describe('fault 57: a token that sends card after card', () => {
  it('fills a quarter of the vault, and others still find a place', () => {
    const cards = createCardVault({ nowMs: () => 0, most: 8 });
    const greedy = [cards.keep(card, 'greedy'), cards.keep(card, 'greedy')];
    expect(() => cards.keep(card, 'greedy')).toThrow(expect.objectContaining({ status: 429 }));
    expect(cards.keep(card, 'other')).toBeDefined();
    cards.forget(greedy[0]?.cardToken ?? '');
    expect(cards.keep(card, 'greedy')).toBeDefined();
  });
});

describe('cards at a gateway', () => {
  const logged: unknown[] = [];
  const take = (...line: unknown[]) => void logged.push(line);
  const log = { info: take, warn: take, error: take, debug: take };
  /** Every answer of a gateway. */
  const answers: string[] = [];
  let sandbox: Sandbox;
  let gateways: readonly GatewayUnderTest[];
  let worker: RunningWorker;
  let folder: string;
  let scratch: string;
  const forgotten = new Set<string>();

  beforeAll(async () => {
    installRuntime(log);
    scratch = await mkdtemp(join(tmpdir(), 'towline-cards-'));
    sandbox = await startSandbox({ dbPath: join(scratch, 'sandbox.db'), token: 'sandbox', stepMs: 20 });
    const service = createServiceClient({ baseUrl: sandbox.url, token: () => Promise.resolve('sandbox') });
    const taskQueue = `cards-${randomUUID()}`;
    const variables = { TEMPORAL_ADDRESS: address() };
    const deps = (gateway: Pick<GatewayUnderTest, 'store'>) => ({
      service,
      store: gateway.store,
      account: 'default',
      publicUrl: 'http://127.0.0.1:9',
      serviceTimeoutMs: 2_000,
      serviceIsOnLoopback: true,
      allowPlaintext: false,
      repeatSettingOf: () => 'unknown' as const,
      newOwner: () => randomUUID(),
      monotonicMs: () => performance.now(),
      log,
    });
    const first: { gateway?: GatewayUnderTest } = {};
    const serveCards: ServeCards = (cards) => {
      const forget = cards.forget.bind(cards);
      jest.spyOn(cards, 'forget').mockImplementation((token) => {
        forgotten.add(token);
        forget(token);
      });
      const store = first.gateway?.store;
      if (store === undefined) throw new Error('a card came before its gateway');
      return startCardWorker({
        variables,
        namespace: 'default',
        dataConverter,
        activities: deps({ store }),
        log,
        cards,
      });
    };
    const access = accessOf(service, 'sandbox');
    const one = await gatewayUnderTest({ gateway: { taskQueue, serveCards, service: access } });
    first.gateway = one;
    folder = one.settings.towlineHome;
    const two = await gatewayUnderTest({ gateway: { taskQueue, serveCards }, wrapStore: () => one.store });
    gateways = [one, two];
    worker = await startWorker({
      variables,
      namespace: 'default',
      dataConverter,
      activities: deps(one),
      log,
      bundlePath: process.env['TEST_WORKFLOW_BUNDLE'] ?? '',
      taskQueue,
    });
  });
  afterAll(async () => {
    await worker.shutdown();
    for (const gateway of gateways.toReversed()) await gateway.close();
    await sandbox.close();
    await rm(scratch, { recursive: true, force: true });
  });
  beforeEach(() => control('DELETE', '/faults'));

  const control = async (method: string, path: string, body?: unknown) => {
    const init = {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    };
    return (await (await fetch(`${sandbox.url}/_sandbox${path}`, init)).json()) as { count: number };
  };
  const executions = async (reference: string) =>
    (await control('GET', `/executions?operation=createCardDeposit&reference=${reference}`)).count;
  const gatewayAt = (index: number): GatewayUnderTest => {
    const gateway = gateways[index];
    if (gateway === undefined) throw new RangeError('there are two gateways');
    return gateway;
  };
  const post = async (path: string, body: unknown, headers?: Record<string, string>, at = 0) => {
    const answer = await gatewayAt(at).post(path, body, headers);
    answers.push(JSON.stringify(answer.body));
    return answer;
  };
  const { cardToken: _token, ...input } = cardDepositInput('x');
  const newInput = (word: string, more: Record<string, unknown> = {}) => {
    const reference = `${word}-${randomUUID()}`;
    references.push(reference);
    return { ...input, referenceId: reference, ...more };
  };
  const references: string[] = [];
  const wait = async (reference: string) => {
    const answer = await gatewayAt(0).get(`/flows/card-deposit/${reference}/wait?timeoutSeconds=300`);
    answers.push(JSON.stringify(answer.body));
    return answer.body;
  };
  const untilStage = (reference: string, stage: string) =>
    until(stage, async () => (await gatewayAt(0).get(`/flows/card-deposit/${reference}`)).body['stage'] === stage);

  it('become tokens only for callers with the role flows', async () => {
    const answer = await post('/card-tokens', { card });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual(['cardToken', 'masked', 'expiresAt']);
    expect((await post('/card-tokens', { card }, { authorization: 'Bearer other' })).status).toBe(401);
  });

  it.each([
    ['number', { number: '378282246310006' }, 'card.number', 'is no card number: a digit is wrong'],
    ['number, too short', { number: '37828224631' }, 'card.number', 'must have 12 to 19 digits'],
    ['number, not of digits', { number: '3782 8224 6310 OO05' }, 'card.number', 'must have 12 to 19 digits'],
    ['number, not text', { number: 378282246310005 }, 'card.number', 'must be text'],
    ['cvv, too long', { cvv: '73911' }, 'card.cvv', 'must have 3 or 4 digits'],
    ['cvv, missing', { cvv: undefined }, 'card.cvv', 'is missing'],
    ['expiryMonth', { expiryMonth: '13' }, 'card.expiryMonth', 'must be a month, 01 to 12'],
    ['expiryYear', { expiryYear: '204' }, 'card.expiryYear', 'must be a year of two or four digits'],
  ])('are refused by the name of their %s', async (_, wrong, path, message) => {
    for (const answer of [
      await post('/card-tokens', { card: { ...card, ...wrong } }),
      await post('/flows/card-deposit', { ...newInput('wrong'), card: { ...card, ...wrong } }),
    ]) {
      expect(answer.status).toBe(400);
      expect(answer.body['data'].errors).toEqual([{ path, message }]);
    }
  });

  it('may be written with spaces and dashes', async () => {
    const answer = await post('/card-tokens', { card: { ...card, number: '3782-822463 10005' } });
    expect(answer.body['masked']).toBe('378282*****0005');
  });

  it('start a flow at once, and the same request again is the same flow, at any gateway', async () => {
    const body = newInput('direct', { card });
    const first = await post('/flows/card-deposit', body);
    expect([first.status, first.body['state']]).toEqual([201, 'running']);
    await untilStage(body.referenceId, 'tracking');
    const again = await post('/flows/card-deposit', body, {}, 1);
    expect([again.status, again.body['stage']]).toEqual([200, 'tracking']);
    expect((await post('/flows/card-deposit', { ...body, amount: '1' })).status).toBe(409);
    expect(await executions(body.referenceId)).toBe(1);
  });

  it.each(['by a flow', 'by the proxy'])(
    'of a request that was begun %s, and is repeated, are dropped at once',
    async (begun) => {
      const { referenceId } = newInput('repeated');
      const { path, body } = sample('createCardDeposit', referenceId);
      if (begun === 'by a flow') {
        await post('/flows/card-deposit', { ...body, card });
        await untilStage(referenceId, 'tracking');
      }
      for (const times of [1, 2, 3]) {
        const before = forgotten.size;
        const { status } = await post(path, { ...body, card });
        expect([times, status, forgotten.size - before]).toEqual([times, 200, 1]);
      }
      expect(await executions(referenceId)).toBe(1);
    },
  );

  it('start a flow by their token, which is sent by the gateway that gave it', async () => {
    for (const at of [0, 1]) {
      const { body } = await post('/card-tokens', { card }, {}, at);
      const { cardToken, masked } = body as { cardToken: string; masked: string };
      const flow = newInput('token', { cardToken, masked });
      // Started at one gateway, whichever keeps the card.
      expect((await post('/flows/card-deposit', flow)).status).toBe(201);
      await untilStage(flow.referenceId, 'tracking');
      expect(await executions(flow.referenceId)).toBe(1);
    }
  });

  it('are not given beside a token, and a token is used once', async () => {
    const { cardToken, masked } = (await post('/card-tokens', { card })).body;
    const both = await post('/flows/card-deposit', newInput('both', { card, cardToken }));
    expect([both.status, both.body['data'].errors[0].path]).toEqual([400, 'cardToken']);
    const [first, second] = [newInput('once', { cardToken, masked }), newInput('twice', { cardToken, masked })];
    await post('/flows/card-deposit', first);
    await untilStage(first.referenceId, 'tracking');
    await post('/flows/card-deposit', second);
    expect((await wait(second.referenceId))['outcome'].reason).toBe('card_details_expired');
    expect([await executions(first.referenceId), await executions(second.referenceId)]).toEqual([1, 0]);
  });

  it('leave nothing behind in a lost answer and in a refusal, either', async () => {
    await control('POST', '/faults', { operation: 'createCardDeposit', kind: 'answer-lost', first: 1 });
    const lost = newInput('lost', { card });
    await post('/flows/card-deposit', lost);
    await untilStage(lost.referenceId, 'outcome-unknown');
    const refused = newInput('refused', { card, amount: '10.42' });
    await post('/flows/card-deposit', refused);
    expect((await wait(refused.referenceId))['outcome'].reason).toBe('rejected_by_service');
  });

  it('are not found in any history (decrypted, too), answer, log line, or file', async () => {
    const { client } = gatewayAt(0);
    const found = await Promise.all(
      references.map((reference) =>
        decryptedHistory(client.workflow.getHandle(`card-deposit/${reference}`), dataConverter).catch(() => ''),
      ),
    );
    const histories = found.filter((history) => history !== '');
    expect(histories.length).toBeGreaterThan(5);
    expect(histories.join('\n')).toContain('Thandi Payer');
    expect(canariesIn(histories.join('\n'))).toEqual([]);
    expect(canariesIn(answers.join('\n').replaceAll(/card\.\w+/g, ''))).toEqual([]);
    expect(gateways.flatMap(({ log: lines }) => lines).length).toBeGreaterThan(20);
    expect(canariesIn(JSON.stringify([logged, gateways.map(({ log: lines }) => lines)]))).toEqual([]);
    expect(canariesIn(await filesOf(folder))).toEqual([]);
    expect(canariesIn(await filesOf(scratch))).toEqual([]);
  });
});

describe('a gateway without a worker for cards', () => {
  it('takes none, and answers 503', async () => {
    const gateway = await gatewayUnderTest();
    expect((await gateway.post('/card-tokens', { card })).status).toBe(503);
    await gateway.close();
  });

  it('whose worker cannot be started tries again while a card waits, and still closes', async () => {
    let starts = 0;
    const serveCards: ServeCards = () => {
      starts += 1;
      return Promise.reject(new Error(`Temporal is away ${card.number}`));
    };
    const gateway = await gatewayUnderTest({ gateway: { serveCards } });
    expect((await gateway.post('/card-tokens', { card })).status).toBe(201);
    await until('another start', () => starts >= 2);
    await gateway.close();
    expect(gateway.log.some((line) => line['msg'] === 'no worker for cards')).toBe(true);
    expect(canariesIn(JSON.stringify(gateway.log))).toEqual([]);
  });
});

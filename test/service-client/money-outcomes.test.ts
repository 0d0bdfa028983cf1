import { afterEach, describe, expect, it } from '@jest/globals';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { ServerResponse } from 'node:http';
import { createServiceClient, type ServiceClient, type ServiceClientOptions } from '../../src/service-client/index.js';
import { bridgeDeposit, bridgeDepositAnswer, CANARIES } from './samples.js';
import { answerJson, closedPort, serveHttp, serveRaw } from './scripted-server.js';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const clientOf = (baseUrl: string, options: Partial<ServiceClientOptions> = {}): ServiceClient => {
  const client = createServiceClient({
    baseUrl,
    token: () => Promise.resolve(CANARIES.token),
    timeoutMs: 5_000,
    ...options,
  });
  open.push(client);
  return client;
};
const deposit = (client: ServiceClient) => client.createBridgeDeposit(bridgeDeposit).catch((error: unknown) => error);

async function answering(answer: (response: ServerResponse) => unknown, options?: Partial<ServiceClientOptions>) {
  const server = await serveHttp((response) => answer(response));
  open.push(server);
  const result = await deposit(clientOf(server.url, options));
  expect(server.seen).toHaveLength(1);
  return result;
}

async function overRaw(onConnection: (socket: Socket) => unknown, options?: Partial<ServiceClientOptions>) {
  const server = await serveRaw(onConnection);
  open.push(server);
  return deposit(clientOf(server.url, options));
}

describe('a money POST is accepted', () => {
  it('when the service answers 2xx with its envelope and the data of the contract', async () => {
    for (const status of [200, 201, 202]) {
      const data = await answering((response) => answerJson(response, status, bridgeDepositAnswer));
      expect(data).toMatchObject({ kotani_reference_id: 'k-1', status: 'DEPOSIT_INITIATED' });
    }
  });

  it('also with unknown members and words, and with cosmetic members that cannot be read', async () => {
    const data = await answering((response) =>
      answerJson(response, 200, {
        ...bridgeDepositAnswer,
        data: {
          ...bridgeDepositAnswer.data,
          status: 'MINTING',
          extra: { deep: 1 },
          payment_hash: ['?'],
          refund_config: 7,
        },
      }),
    );
    expect(data).toMatchObject({ status: 'MINTING', extra: { deep: 1 } });
    expect(data).toMatchObject({ payment_hash: undefined, refund_config: undefined });
  });
});

describe('a money POST was not sent, proven', () => {
  it('when nothing listens', async () => {
    const result = await deposit(clientOf(`http://127.0.0.1:${await closedPort()}`));
    expect(result).toMatchObject({ name: 'NotSentError', reason: 'refused' });
  });

  it('when nothing listens on either address of localhost', async () => {
    const result = await deposit(clientOf(`http://localhost:${await closedPort()}`));
    expect(result).toMatchObject({ name: 'NotSentError', reason: 'refused' });
  });

  it('when the host has no address', async () => {
    const result = await deposit(clientOf('https://nowhere.invalid'));
    expect(result).toMatchObject({ name: 'NotSentError', reason: 'dns' });
  });

  it('when the call was cancelled before it began', async () => {
    const server = await serveHttp((response) => answerJson(response, 200, bridgeDepositAnswer));
    open.push(server);
    const call = clientOf(server.url).createBridgeDeposit(bridgeDeposit, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ name: 'NotSentError', reason: 'cancelled' });
    expect(server.connections()).toBe(0);
  });

  it('when the token cannot be fetched, or is not a valid header', async () => {
    for (const token of [() => Promise.reject(new Error('gone')), () => Promise.resolve('a\r\nx-evil: 1')]) {
      const result = await deposit(clientOf('http://127.0.0.1:9', { token }));
      expect(result).toMatchObject({ name: 'NotSentError', reason: 'token' });
    }
  });
});

describe('a money POST was turned away', () => {
  it('when the service answers 401, and then the token is refreshed once for later calls', async () => {
    const refused: string[] = [];
    const result = await answering((response) => answerJson(response, 401, { success: false, message: 'no' }), {
      onUnauthorized: async (token) => void refused.push(token),
    });
    expect(result).toMatchObject({ name: 'TurnedAwayError', reason: 'unauthorized' });
    expect(refused).toEqual([CANARIES.token]);
  });

  it('when the service answers 429, with its hint', async () => {
    const result = await answering((response) =>
      answerJson(response, 429, { success: false, message: 'slow' }, { 'retry-after': '7' }),
    );
    expect(result).toMatchObject({ name: 'RateLimitedError', reason: 'rate-limited', retryAfterMs: 7_000 });
  });
});

describe('a money POST is rejected', () => {
  it.each([400, 403, 404, 422])('when the service answers %i', async (status) => {
    const result = await answering((response) =>
      answerJson(response, status, {
        success: false,
        message: 'Validation failed',
        error_code: 1042,
        data: { errors: [{ path: 'settlement.amount', message: 'x' }, { field: 'chain' }, 'text'] },
      }),
    );
    expect(result).toMatchObject({
      name: 'RejectedError',
      httpStatus: status,
      message: 'Validation failed',
      code: '1042',
      fields: ['settlement.amount', 'chain'],
      hasReason: true,
      isRateExpired: false,
    });
  });

  it('with the names of the wrong fields, if the errors are an object of them', async () => {
    const errors = { 'settlement.amount': ['must be positive'], chain: 'unknown' };
    const result = await answering((response) =>
      answerJson(response, 400, { success: false, message: 'Validation failed', data: { errors } }),
    );
    expect(result).toMatchObject({ name: 'RejectedError', fields: ['settlement.amount', 'chain'] });
  });

  it('when a 2xx has success: false with a reason', async () => {
    const result = await answering((response) =>
      answerJson(response, 200, { success: false, message: 'Insufficient Funds', data: null }),
    );
    expect(result).toMatchObject({ name: 'RejectedError', httpStatus: 200, message: 'Insufficient Funds' });
  });

  it('as expired when the service answers "Rate Expired", in text or code', async () => {
    for (const body of [{ message: 'Rate Expired' }, { message: 'no', error_code: 'RATE_EXPIRED' }]) {
      const result = await answering((response) => answerJson(response, 400, { success: false, ...body }));
      expect(result).toMatchObject({ name: 'RejectedError', isRateExpired: true });
    }
  });

  it('with the service text cut to 300 characters, and without what it repeats of us', async () => {
    const message = `Bad phone ${CANARIES.phone} for key ${CANARIES.token} ${'x'.repeat(1_000)}`;
    const result = await answering((response) => answerJson(response, 400, { success: false, message }));
    const shown = (result as Error).message;
    for (const canary of [CANARIES.phone, CANARIES.token]) expect(shown).not.toContain(canary);
    expect(shown.match(/\[redacted\]/g)).toHaveLength(2);
    expect(shown).toHaveLength(300);
  });
});

describe('a money POST is a duplicate', () => {
  it.each([
    ['409', 409, { success: false, message: 'conflict' }],
    ['an error of its own', 503, { success: false, message: 'Duplicate transaction' }],
    ['a limit of its own', 429, { success: false, message: 'Duplicate transaction' }],
    ['400 with the code', 400, { status: 'error', message: 'no', error_code: 'DUPLICATE_REFERENCE' }],
    ['400 with the text', 400, { success: false, message: 'Reference id already exists' }],
    ['a refusal in a 2xx', 200, { success: false, message: 'Duplicate transaction' }],
    ['the status DUPLICATE', 200, { ...bridgeDepositAnswer, data: { status: 'DUPLICATE' } }],
  ])('by %s', async (_, status, body) => {
    const result = await answering((response) => answerJson(response, status, body));
    expect(result).toMatchObject({ name: 'DuplicateReferenceError', httpStatus: status });
  });
});

describe('the outcome of a money POST is unknown', () => {
  it.each([300, 302, 304, 307, 402, 405, 408, 410, 413, 418, 500, 502, 503, 504, 599])(
    'when the service answers %i with a reason for failing',
    async (status) => {
      const result = await answering((response) =>
        answerJson(response, status, { success: false, message: 'failed', error_code: 'TRANSACTION_FAILED' }),
      );
      expect(result).toMatchObject({
        name: 'UnknownOutcomeError',
        reason: status < 400 ? 'redirect' : 'http-status',
        httpStatus: status,
      });
    },
  );

  it.each([400, 401, 403, 404, 409, 422, 429])(
    'when a page that the service did not write has status %i',
    async (status) => {
      const page = await answering((response) => response.writeHead(status).end('<html>Access denied</html>'));
      expect(page).toMatchObject({ name: 'UnknownOutcomeError', reason: 'http-status', httpStatus: status });
    },
  );

  it('when it is redirected, and nothing is followed', async () => {
    const elsewhere = await serveHttp((response) => answerJson(response, 200, bridgeDepositAnswer));
    open.push(elsewhere);
    const result = await answering((response) => answerJson(response, 307, {}, { location: elsewhere.url }));
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'redirect' });
    expect(elsewhere.connections()).toBe(0);
  });

  it.each([
    ['HTML', '<!doctype html><p>Welcome'],
    ['nothing', ''],
    ['truncated JSON', '{"success":true,"data":{"kotani_refer'],
    ['an amount said twice', '{"success":true,"data":{"kotani_reference_id":"k","status":"A","status":"B"}}'],
    ['nesting without end', '['.repeat(100_000)],
    ['more levels than anything of ours reads', `{"success":true,"data":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
  ])('when a 2xx holds %s', async (_, body) => {
    const result = await answering((response) => response.writeHead(200).end(body));
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'unreadable-body', httpStatus: 200 });
  });

  const ofAnother = {
    ...bridgeDepositAnswer,
    data: { ...bridgeDepositAnswer.data, provider_reference_id: 'of-another' },
  };
  it.each([
    ['no envelope', bridgeDepositAnswer.data, 'wrong-shape'],
    ['null', null, 'wrong-shape'],
    ['no data', { success: true, message: 'ok' }, 'wrong-shape'],
    ['data without its reference', { success: true, data: { status: 'COMPLETED' } }, 'wrong-shape'],
    ['success:false without a reason', { success: false, message: ' ' }, 'no-reason'],
    ['the record of another reference', ofAnother, 'other-reference'],
    ['success:false, a reason, and a whole record', { ...bridgeDepositAnswer, success: false }, 'contradictory'],
  ])('when a 2xx holds %s', async (_, body, reason) => {
    const result = await answering((response) => answerJson(response, 200, body));
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason });
  });

  it('when the answer is larger than its limit, also one that was compressed', async () => {
    const options = { maxAnswerBytes: 10_000 };
    const large = await answering((response) => response.writeHead(200).end(' '.repeat(20_000)), options);
    expect(large).toMatchObject({ name: 'UnknownOutcomeError', reason: 'answer-too-large' });
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const gzip = { 'content-encoding': 'gzip' };
    const bombed = await answering((response) => response.writeHead(200, gzip).end(bomb), options);
    expect(bombed).toMatchObject({ name: 'UnknownOutcomeError', reason: 'answer-too-large' });
  });

  it('when the connection is reset after the request was read', async () => {
    const result = await answering((response) => response.socket?.resetAndDestroy());
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'connection-lost' });
  });

  it('or not sent, but never rejected, when the connection is reset early; and not sent only if no byte arrived', async () => {
    for (let round = 0; round < 100; round += 1) {
      let bytesRead = 0;
      const result = await overRaw((socket) => {
        socket.on('data', (chunk) => (bytesRead += chunk.length));
        const reset = () => socket.resetAndDestroy();
        if (round % 3 === 0) reset();
        else if (round % 3 === 1) setImmediate(reset);
        else socket.once('data', reset);
      });
      expect((result as Error).name).toMatch(/^(NotSentError|UnknownOutcomeError)$/);
      if ((result as Error).name === 'NotSentError') expect(bytesRead).toBe(0);
      if (round % 3 === 2) expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'connection-lost' });
    }
  });

  it('when the connection ends half way through the answer', async () => {
    const result = await overRaw((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"success":true,')),
    );
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'connection-lost' });
  });

  it('when the answer is not HTTP', async () => {
    const result = await overRaw((socket) => socket.once('data', () => socket.end('220 mail ready\r\n\r\n')));
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'connection-lost' });
  });

  it('when no answer comes in time', async () => {
    const result = await overRaw((socket) => socket.resume(), { timeoutMs: 1_000 });
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'timeout' });
  });

  it('when the answer drips on past the timeout', async () => {
    const result = await overRaw(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n');
        const drip = setInterval(() => socket.write(' '), 20);
        socket.on('close', () => clearInterval(drip));
      },
      { timeoutMs: 1_000 },
    );
    expect(result).toMatchObject({ name: 'UnknownOutcomeError', reason: 'timeout' });
  });

  it('when the caller cancels after the request has left', async () => {
    const ending = new AbortController();
    const server = await serveHttp(() => ending.abort());
    open.push(server);
    const call = clientOf(server.url).createBridgeDeposit(bridgeDeposit, { signal: ending.signal });
    await expect(call).rejects.toMatchObject({ name: 'UnknownOutcomeError', reason: 'cancelled' });
  });
});

describe('a money POST', () => {
  it('leaves once, on a connection of its own, as JSON with numbers, without the environment', async () => {
    const server = await serveHttp((response) => answerJson(response, 200, bridgeDepositAnswer));
    open.push(server);
    process.env['HTTP_PROXY'] = 'http://127.0.0.1:9';
    process.env['http_proxy'] = 'http://127.0.0.1:9';
    try {
      const client = clientOf(server.url);
      for (let count = 1; count <= 3; count += 1) {
        await client.createBridgeDeposit(bridgeDeposit);
        expect(server.connections()).toBe(count);
      }
    } finally {
      delete process.env['HTTP_PROXY'];
      delete process.env['http_proxy'];
    }
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'POST', url: '/api/v3/deposit/crypto-bridge' });
    expect(JSON.parse(seen?.body ?? '')).toEqual(bridgeDeposit);
    expect(seen?.headers).toMatchObject({
      authorization: `Bearer ${CANARIES.token}`,
      'content-type': 'application/json',
      connection: 'close',
    });
  });
});

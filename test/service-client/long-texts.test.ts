import { expect, it } from '@jest/globals';
import { createServiceClient } from '../../src/service-client/index.js';
import type { Send } from '../../src/service-client/send.js';
import { bridgeDeposit } from './samples.js';

const LENGTH = 100_000;
const filled = (text: string): string => text.repeat(Math.ceil(LENGTH / text.length)).slice(0, LENGTH);

/** How long the client needs for one refused POST, in ms; the least of several, since others share the processor. */
async function leastMs(
  httpStatus: number,
  body: unknown,
  headers: Record<string, string> = {},
  notes?: string,
): Promise<number> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const send: Send = async () => ({ kind: 'answer', httpStatus, bytes, headers });
  const client = createServiceClient({ baseUrl: 'http://127.0.0.1:9', token: async () => 'token', send });
  const sent = notes === undefined ? bridgeDeposit : { ...bridgeDeposit, sender_name: notes };
  const runs: number[] = [];
  for (let run = 0; run < 5; run += 1) {
    const startedMs = performance.now();
    await client.createBridgeDeposit(sent).catch(() => undefined);
    runs.push(performance.now() - startedMs);
  }
  return Math.min(...runs);
}

const refused = (message: unknown, more: object = {}) => ({ success: false, message, ...more });

it('a refusal of 100,000 characters costs the client no more than a few times what a plain text of that length does', async () => {
  const plainMs = await leastMs(400, refused(filled('x')));
  const texts = ['rate ', '1', '\\', ' ', 'a/', '/callbacks/', 'already ', 'referenceId', 'http://', '%2f', 'é', '_'];
  const bodies: readonly (readonly [string, unknown, Record<string, string>?])[] = [
    ...texts.map((text) => [text, refused(filled(text))] as const),
    ...texts.map((text) => [`code ${text}`, refused('no', { error_code: filled(text) })] as const),
    ['a list', refused(Array.from({ length: 30_000 }, () => 'rate'))],
    ['30,000 errors', refused('no', { data: { errors: Array.from({ length: 30_000 }, () => ({})) } })],
    ['its header', refused('no'), { 'retry-after': filled('Mon, 0') }],
  ];
  const slow: object[] = [];
  for (const [name, body, headers] of bodies) {
    const ratio = (await leastMs(429, body, headers)) / plainMs;
    if (ratio > 40) slow.push({ name, ratio });
  }
  expect(slow).toEqual([]);
});

it('a refusal of a request with 12,000 words of its caller costs no more than a few times what its length does', async () => {
  const body = refused('Insufficient balance in the wallet.', { error_code: 'INSUFFICIENT_BALANCE' });
  const plainMs = await leastMs(400, body, {}, ' '.repeat(60_000));
  const words = Array.from({ length: 12_000 }, (_, n) => n.toString(36).padStart(4, 'z')).join(' ');
  // Some 200 times as much with a pattern for each word.
  expect((await leastMs(400, body, {}, words)) / plainMs).toBeLessThan(40);
  expect((await leastMs(400, body, {}, filled('x').slice(0, 60_000))) / plainMs).toBeLessThan(40);
});

it('a refusal shows nothing of a text of 40,000 characters that it repeats a word of', async () => {
  const bytes = new TextEncoder().encode(JSON.stringify(refused('refused for Zanele')));
  const send: Send = async () => ({ kind: 'answer', httpStatus: 400, bytes, headers: {} });
  const client = createServiceClient({ baseUrl: 'http://127.0.0.1:9', token: async () => 'token', send });
  const sent = { ...bridgeDeposit, sender_name: `${'x'.repeat(40_000)} Zanele` };
  await expect(client.createBridgeDeposit(sent)).rejects.toMatchObject({
    message: expect.not.stringContaining('Zanele'),
  });
});

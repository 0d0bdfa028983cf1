import { expect, test } from '@jest/globals';
import { createServiceReads } from '../../../src/gateway/proxy/service-reads.js';
import type { RelayedAnswer } from '../../../src/service-client/index.js';

const ANSWER: RelayedAnswer = { httpStatus: 200, headers: {}, bytes: new Uint8Array(), data: {} };

/** Reads of a service that answers when it is told to. */
function reading() {
  const at = { nowMs: 0 };
  const asked: ((answer: RelayedAnswer) => void)[] = [];
  const relay = () => new Promise<RelayedAnswer>((resolve) => void asked.push(resolve));
  const reads = createServiceReads({ client: { relay } }, () => at.nowMs);
  const read = (caller: string, reference: string) => reads.read({ name: caller }, 'getOfframp', reference);
  const quote = (caller: string) => reads.quote({ name: caller }, {});
  const answerAll = async () => {
    for (const answer of asked.splice(0)) answer(ANSWER);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { at, asked, read, quote, answerAll };
}

test('simultaneous reads of one record are one request to the service, and a later one is another', async () => {
  const { asked, read, answerAll } = reading();
  const both = [read('shop', 'a'), read('other', 'a'), read('shop', 'b')];
  expect(asked).toHaveLength(2);
  await answerAll();
  expect(await Promise.all(both)).toEqual([ANSWER, ANSWER, ANSWER]);
  void read('shop', 'a');
  expect(asked).toHaveLength(1);
});

test('one name that reads without end has a share, and others read on', async () => {
  const { at, asked, read, answerAll } = reading();
  const refused: unknown[] = [];
  for (let n = 0; n < 100; n += 1) read('greedy', `g-${n}`).catch((error: unknown) => refused.push(error));
  await answerAll();
  expect(refused).toHaveLength(60);
  expect(refused[0]).toMatchObject({ status: 429 });
  const other = read('shop', 'a');
  expect(asked).toHaveLength(1);
  await answerAll();
  expect(await other).toBe(ANSWER);
  at.nowMs += 1_000;
  for (let n = 0; n < 100; n += 1) read('greedy', `h-${n}`).catch(() => undefined);
  expect(asked).toHaveLength(20);
});

test('one name that asks for quotes without end has its share of the reads', async () => {
  const { asked, quote, read } = reading();
  const refused: unknown[] = [];
  for (let n = 0; n < 100; n += 1) quote('greedy').catch((error: unknown) => refused.push(error));
  await new Promise((resolve) => setImmediate(resolve));
  expect(refused).toHaveLength(60);
  expect(asked).toHaveLength(40);
  void read('shop', 'a');
  expect(asked).toHaveLength(41);
});

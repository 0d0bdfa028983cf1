import { expect, it } from '@jest/globals';
import { createGatewayLogger } from '../../src/gateway/index.js';

it('the log has at most 20 lines a second of one sentence, with the count of those left out, and every alarm', () => {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  const log = createGatewayLogger(
    { logLevel: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
    () => nowMs,
  );
  const taken = () =>
    lines.splice(0).map(({ msg, leftOut }) => `${String(msg)} ${typeof leftOut === 'number' ? leftOut : ''}`.trim());
  for (let n = 0; n < 1_000; n += 1) log.warn({ status: 503 }, 'answered');
  expect(taken()).toEqual(Array.from({ length: 20 }, () => 'answered'));
  log.error({}, 'another sentence');
  log.info({}, 'answered');
  expect(taken()).toEqual(['another sentence', 'answered']);
  for (let n = 0; n < 50; n += 1) log.error({ alarm: 'late_event_contradicts' }, 'ALARM');
  expect(taken()).toHaveLength(50);
  nowMs = 1_000;
  log.warn({ status: 503 }, 'answered');
  log.warn({ status: 503 }, 'answered');
  expect(taken()).toEqual(['answered 980', 'answered']);
});

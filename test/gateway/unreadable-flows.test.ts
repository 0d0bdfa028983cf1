import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createUnreadableFlows } from '../../src/gateway/dispatch/unreadable-flows.js';
import type { InboxRow } from '../../src/protocol/events.js';
import { anEvent } from '../store/temporary-store.js';

const rowOf = (members: object = {}) => ({ ...anEvent(), ...members }) as unknown as InboxRow;
const closed = () => rowOf({ unreadable: 'no key' });

function flowsUnderTest() {
  const at = { nowMs: 1_000_000 };
  const log: Record<string, unknown>[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) });
  return { at, log, flows: createUnreadableFlows(logger, () => at.nowMs) };
}

describe('flows with an event that has no key here', () => {
  it('are logged once each, with their events, and again after one that could be opened', () => {
    const { flows, log } = flowsUnderTest();
    const [row, other] = [closed(), closed()];
    for (let n = 0; n < 3; n += 1) flows.examine({ flowId: 'a', rows: [rowOf(), row] });
    flows.examine({ flowId: 'b', rows: [other] });
    expect(log).toMatchObject([
      { flowId: 'a', events: [row.id], why: 'no key' },
      { flowId: 'b', events: [other.id] },
    ]);
    expect(flows.examine({ flowId: 'a', rows: [rowOf()] })).toEqual([]);
    flows.examine({ flowId: 'a', rows: [row] });
    expect(log).toHaveLength(3);
  });

  it('are counted while they are examined every minute', () => {
    const { flows, at } = flowsUnderTest();
    flows.examine({ flowId: 'a', rows: [closed()] });
    at.nowMs += 59_999;
    flows.examine({ flowId: 'b', rows: [closed()] });
    expect(flows.count()).toBe(2);
    at.nowMs += 1;
    expect(flows.count()).toBe(1);
  });

  it('wait for their key for an hour, and for another hour once one was given up', () => {
    const { flows, at } = flowsUnderTest();
    const rows = [closed()];
    flows.examine({ flowId: 'a', rows });
    at.nowMs += 1_800_000;
    expect(flows.examine({ flowId: 'a', rows })).toBe('key may come');
    at.nowMs += 1_800_000;
    expect(flows.examine({ flowId: 'a', rows })).toEqual(rows);
    expect(flows.examine({ flowId: 'a', rows })).toBe('key may come');
  });

  it('hold nothing back for the damaged ones among them, which are named at once', () => {
    const { flows, log } = flowsUnderTest();
    const damaged = rowOf({ unreadable: 'broken', isBroken: true });
    expect(flows.examine({ flowId: 'a', rows: [closed(), damaged, rowOf()] })).toEqual([damaged]);
    expect([log, flows.count()]).toEqual([[], 0]);
  });

  it('are forgotten if there are ten thousand, so that the memory has an end', () => {
    const flows = createUnreadableFlows(pino({ enabled: false }), () => 0);
    const rows = [closed()];
    for (let n = 0; n < 10_000; n += 1) flows.examine({ flowId: `${n}`, rows });
    expect(flows.count()).toBe(10_000);
    flows.examine({ flowId: 'another', rows });
    expect(flows.count()).toBe(1);
  });
});

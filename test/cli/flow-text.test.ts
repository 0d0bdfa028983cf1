import type { ProposedOrder } from '../../src/api/flow.js';
import { expect, test } from '@jest/globals';
import { flowText } from '../../src/cli/flow-text.js';
import { printable } from '../../src/cli/print.js';
import { CHECK_FIRST, PARK_ACTIONS, type ParkReason } from '../../src/protocol/vocabulary.js';

const plain = { bold: (text: string) => text, dim: (text: string) => text };

const shownAs = (reason: ParkReason, proposal: ProposedOrder | null = null): string =>
  flowText(
    { colors: new Proxy(plain, { get: () => (text: string) => text }) as never },
    {
      kind: 'onramp',
      reference: 'order-1',
      flowId: 'onramp/order-1',
      state: 'parked',
      stage: 'outcome-unknown',
      serviceReference: null,
      terms: null,
      contradicted: null,
      startedAt: '2026-01-05T08:00:00.000Z',
      updatedAt: '2026-01-05T08:01:00.000Z',
      deadlineAt: '2026-01-05T09:00:00.000Z',
      parked: { reason, since: '2026-01-05T08:01:00.000Z', actions: PARK_ACTIONS[reason], evidence: {} },
      outcome: null,
      timeline: [],
      amount: '1000.5',
      currency: 'KES',
      proposal,
    },
  );

test.each(Object.keys(PARK_ACTIONS) as ParkReason[])(
  'a flow parked as %s is shown with each action, what to check before it, and no command that is ready to run',
  (reason) => {
    const text = shownAs(reason);
    expect(text).toContain('1000.5 KES');
    expect(text).toContain(`docs/parked-flows.md#${reason}`);
    for (const action of PARK_ACTIONS[reason]) {
      expect(text).toContain(CHECK_FIRST[action]);
      expect(text).not.toContain(`order-1 ${action}`);
    }
  },
);

test('what a terminal would obey is shown as its escape, and lines and amounts as they are', () => {
  const answer = { note: 'a\u001b]0;x\u0007\u009b2J\u202eb\n\tc é', amounts: ['7.50', 1e21, null], deep: { on: true } };
  expect(printable(answer)).toEqual({
    note: 'a\\u001b]0;x\\u0007\\u009b2J\\u202eb\n\tc é',
    amounts: ['7.50', 1e21, null],
    deep: { on: true },
  });
});

test('an order that waits for a second person is shown with who gave it, and with the command that confirms it', () => {
  const [confirm, withdraw] = [
    'towline resolve onramp/order-1 mark-completed --note "why"',
    'towline withdraw onramp/order-1',
  ];
  const order = { id: 'ord_1', action: 'mark-completed', by: 'alice', note: 'ticket 77', confirmedBy: null, confirm };
  const times = { at: '2026-01-05T08:02:00.000Z', expiresAt: '2026-01-06T08:02:00.000Z' };
  const text = shownAs('conflict', { ...order, ...times, withdraw });
  expect(text).toMatch(/mark-completed.*alice.*2026-01-05T08:02:00\.000Z.*ticket 77/);
  for (const command of [confirm, withdraw]) expect(text).toContain(command);
});

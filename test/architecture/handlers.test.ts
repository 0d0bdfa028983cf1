import { describe, expect, it } from '@jest/globals';
import { endlessInHandlers } from './handlers.js';
import { shippedSources } from './sources.js';

const workflows = shippedSources().filter(({ path }) => path.startsWith('workflows/'));
const file = (text: string, path = 'x.ts') => ({ path, text });

describe('the rule that each activity of an update handler has an end', () => {
  it('holds for all workflows', () => {
    expect(endlessInHandlers(workflows)).toEqual([]);
  });

  it('sees the handlers: without the bound of one check, that is found', () => {
    const open = workflows.map(({ path, text }) => ({ path, text: text.replaceAll('within(', 'sometime(') }));
    expect(endlessInHandlers(open).length).toBeGreaterThan(1);
  });

  it.each([
    'onUpdate(flow, update, async () => { await act(READ, "x").check(); });',
    'onUpdate(flow, update, async () => { await take(); });\nasync function take() { await act(READ, "x").check(); }',
    'onUpdate(flow, update, () => take());\nconst take = async () => again();\nconst again = () => act(READ, "x").check();',
    'onUpdate(flow, update, () => observed(() => act(STORE, "x").check()));',
    'flow.beforeStop = () => act(STORE, "x").check();',
    'onUpdate(flow, update, () => undefined, () => void act(STORE, "x").check());',
    '// Bounded by hope.\nonUpdate(flow, update, () => act(STORE, "x").check());',
  ])('finds %j', (text) => {
    expect(endlessInHandlers([file(text)])).toHaveLength(1);
  });

  it('follows a function into another file', () => {
    const take = file('export async function take() { await act(READ, "x").check(); }', 'y.ts');
    expect(endlessInHandlers([file('onUpdate(flow, update, () => take());'), take])).toEqual([
      expect.stringMatching(/^y\.ts: act/),
    ]);
  });

  it.each([
    'onUpdate(flow, update, () => within(flow, MS, () => act(READ, "x").check()));',
    'onUpdate(flow, update, () => within(flow, MS, () => take()));\nconst take = () => act(READ, "x").check();',
    'onUpdate(flow, update, () => act(LAST_LOOK, "x").check());',
    'async function run() { await act(READ, "x").check(); }',
  ])('lets %j pass', (text) => {
    expect(endlessInHandlers([file(text)])).toEqual([]);
  });
});

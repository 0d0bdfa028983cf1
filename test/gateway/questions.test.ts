import { describe, expect, it } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { createFlowReader } from '../../src/temporal/flow-handle.js';
import { type Asker, limitQuestions, TooManyQuestionsError } from '../../src/temporal/questions.js';
import { bareServer } from './setup/bare-server.js';
import { settled } from './setup/virtual-clock.js';

const times = (count: number) => Array.from({ length: count }, (_, n) => n);

/** Questions whose answers come when the test says. */
function asked() {
  const askWorker = limitQuestions();
  const open: { readonly name: string; readonly answer: () => void }[] = [];
  const ask = (asker: Asker, withinMs = 60_000) =>
    askWorker(asker, withinMs, async () => {
      await new Promise<void>((answer) => open.push({ name: asker.name, answer }));
      return 'answered';
    });
  const openOf = (name: string) => open.filter((one) => one.name === name).length;
  /** Answers all that are asked, and those that are asked then. */
  const answerAll = async (questions: readonly Promise<unknown>[]) => {
    const timer = setInterval(() => open.splice(0).forEach(({ answer }) => answer()), 1);
    await Promise.allSettled(questions);
    clearInterval(timer);
  };
  return { ask, open, openOf, answerAll };
}

describe('questions to workers', () => {
  it('of two readers who get no answers keep no order from its worker, and no third reader', async () => {
    const { ask, openOf, answerAll } = asked();
    const questions = ['ann', 'bob'].flatMap((name) => times(100).map(() => ask({ name })));
    questions.push(ask({ name: 'cyn' }), ask({ name: 'ann', isOrder: true }));
    await settled();
    expect([openOf('bob'), openOf('cyn')]).toEqual([4, 1]);
    // Four of its own readings, and the order.
    expect(openOf('ann')).toBe(5);
    await answerAll(questions);
  });

  it('of any number of readers leave four places to orders', async () => {
    const { ask, open, answerAll } = asked();
    const questions = times(9).flatMap((n) => times(5).map(() => ask({ name: `reader ${n}` })));
    await settled();
    expect(open).toHaveLength(12);
    questions.push(...times(6).map(() => ask({ name: 'ann', isOrder: true })));
    await settled();
    expect(open).toHaveLength(16);
    await answerAll(questions);
  });

  it('are refused when their turn does not come, and say whether the asker or all together have too many', async () => {
    const { ask, answerAll } = asked();
    const questions = times(4).map(() => ask({ name: 'ann' }));
    await expect(ask({ name: 'ann' }, 5)).rejects.toMatchObject({ isOwn: true });
    questions.push(...['bob', 'cyn'].flatMap((name) => times(4).map(() => ask({ name }))));
    await expect(ask({ name: 'dan' }, 5)).rejects.toMatchObject({ isOwn: false });
    await answerAll(questions);
    expect(await Promise.all(questions)).toEqual(questions.map(() => 'answered'));
  });

  it('wait, 256 of a name at most', async () => {
    const { ask, answerAll } = asked();
    const questions = times(4 + 256).map(() => ask({ name: 'ann' }));
    await expect(ask({ name: 'ann' })).rejects.toThrow(TooManyQuestionsError);
    await answerAll(questions);
  });

  it('which are too many show a reader what Temporal knows of the flow, and refuse an order', async () => {
    const client = {
      options: {},
      connection: { withDeadline: <T>(_deadline: number, ask: () => Promise<T>) => ask() },
      workflow: {
        getHandle: () => ({
          describe: async () => ({
            status: { name: 'RUNNING' },
            raw: {},
            searchAttributes: {},
            startTime: new Date(),
            type: 'onramp',
          }),
        }),
      },
    } as unknown as Client;
    const askWorker = () => Promise.reject(new TooManyQuestionsError('ann', true));
    const reader = createFlowReader(client, { askWorker });
    expect(await reader.show('onramp/r', { name: 'ann' })).toMatchObject({ state: 'running', timeline: [] });
    await expect(reader.show('onramp/r', { name: 'ann', isOrder: true })).rejects.toThrow(TooManyQuestionsError);
  });

  it.each([
    [true, 429],
    [false, 503],
  ])('which are too many (the own ones: %s) are answered %d, and say so', async (isOwn, status) => {
    const { server } = bareServer('operator', 'ann');
    server.get('/', () => Promise.reject(new TooManyQuestionsError('ann', isOwn)));
    const { statusCode, headers, payload } = await server.inject('/');
    expect([statusCode, headers['retry-after']]).toEqual([status, '5']);
    expect(JSON.parse(payload)).toMatchObject({ data: { code: 'too_many_questions' } });
    await server.close();
  });
});

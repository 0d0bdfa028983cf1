import type { Benchmark } from '../benchmark.js';
import { openStack } from '../setup/stack.js';
import { cost } from './cost.js';
import { historySizes } from './history.js';
import { eventsOfAnHour } from './polling.js';

export const bridge: Benchmark = {
  name: 'bridge',
  about:
    'P1 P5 P6: a whole bridge transfer against a flow that does nothing; the size of its history, and of an hour of polling',
  async run(say) {
    const stack = await openStack(say);
    try {
      say('P5: histories');
      const histories = await historySizes(stack);
      say('P6: an hour of polling');
      const polling = await eventsOfAnHour(stack);
      say('P1: transfers and bare flows, in turns');
      return [...(await cost(stack)), ...histories, polling];
    } finally {
      await stack.close();
    }
  },
};

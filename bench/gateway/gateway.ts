import type { Benchmark } from '../benchmark.js';
import { openStack } from '../setup/stack.js';
import { openTransfers } from '../setup/transfers.js';
import { acknowledge } from './acknowledge.js';
import { answer } from './answer.js';
import { duplicates } from './duplicates.js';
import { allSettled } from './inbox-state.js';
import { nextStep } from './next-step.js';

/** Open flows that the webhooks are for. */
const FLOWS = 60;

export const gateway: Benchmark = {
  name: 'gateway',
  about: 'P2 P3 P4 P9: webhooks in, their way to the flow, duplicates, the answer through the proxy',
  async run(say) {
    const stack = await openStack(say);
    try {
      say('P9: deposits through the proxy');
      const answers = await answer(stack);
      const references = await openTransfers(stack, FLOWS);
      say('P2: webhooks at once');
      const acknowledged = await acknowledge(stack, references);
      await allSettled(stack);
      say('P3: webhooks at a steady pace');
      const steps = await nextStep(stack);
      await allSettled(stack);
      say('P4: webhooks again');
      const repeats = await duplicates(stack, references);
      return [...acknowledged, ...steps, ...repeats, ...answers];
    } finally {
      await stack.close();
    }
  },
};

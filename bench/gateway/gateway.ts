import type { Benchmark } from '../benchmark.js';
import type { Finding } from '../report/finding.js';
import { openStack, type Stack } from '../setup/stack.js';
import { openTransfers } from '../setup/transfers.js';
import { acknowledge } from './acknowledge.js';
import { answer } from './answer.js';
import { duplicates } from './duplicates.js';
import { allSettled } from './inbox-state.js';
import { hangingReceivers } from './hanging-receivers.js';
import { nextStep } from './next-step.js';
import { twoGateways } from './two-gateways.js';
import { rows } from '../store/rows.js';

/** Open flows that the webhooks are for. */
const FLOWS = 300;

export const gateway: Benchmark = {
  name: 'gateway',
  about:
    'P2 P3 P4 P9 P12 P14: webhooks in, their way to the flow, duplicates, the answer through the proxy, full tables',
  async run(say) {
    // Servers of its own for each: flows that one leaves behind are no load on the next.
    const onItsOwn = async (measure: (stack: Stack) => Promise<readonly Finding[]>): Promise<readonly Finding[]> => {
      const stack = await openStack(say);
      try {
        return await measure(stack);
      } finally {
        await stack.close();
      }
    };

    // First, since a steady pace notices most what another load leaves behind on this machine.
    const steps = await onItsOwn((stack) => {
      say('P3: webhooks at a steady pace');
      return nextStep(stack);
    });
    const acknowledgements = await onItsOwn(async (stack) => {
      const references = await openTransfers(stack, FLOWS);
      say('P2: webhooks and signals at the same pace');
      const acknowledged = await acknowledge(stack, references);
      await allSettled(stack);
      say('P4: webhooks again');
      return [...acknowledged, ...(await duplicates(stack, references))];
    });
    const answers = await onItsOwn((stack) => {
      say('P9: deposits through the proxy');
      return answer(stack);
    });
    const others: Finding[] = [];
    for (const benchmark of [rows, twoGateways, hangingReceivers]) {
      say(benchmark.about);
      others.push(...(await benchmark.run(say)));
    }
    return [...acknowledgements, ...steps, ...answers, ...others];
  },
};

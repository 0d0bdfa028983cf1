import type { Benchmark } from '../benchmark.js';
import { notMeasured, type Finding } from '../report/finding.js';
import { tableOf } from '../report/table.js';
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

    const parts: readonly (readonly [string, () => Promise<readonly Finding[]>])[] = [
      // First, since a steady pace notices most what another load leaves behind on this machine.
      ['P3: webhooks at a steady pace', () => onItsOwn(nextStep)],
      [
        'P2, P4: webhooks and signals at the same pace, webhooks again',
        () =>
          onItsOwn(async (stack) => {
            const references = await openTransfers(stack, FLOWS);
            const acknowledged = await acknowledge(stack, references);
            await allSettled(stack);
            return [...acknowledged, ...(await duplicates(stack, references))];
          }),
      ],
      ['P9: deposits through the proxy', () => onItsOwn(answer)],
      ...[rows, twoGateways, hangingReceivers].map((one) => [one.about, () => one.run(say)] as const),
    ];
    const findings: Finding[] = [];
    for (const [about, measure] of parts) {
      say(about);
      // The others are measured nevertheless.
      const found = await measure().catch((error: unknown) => [notMeasured(about.split(':')[0] ?? '', String(error))]);
      say(tableOf(found));
      findings.push(...found);
    }
    return findings;
  },
};

import { forgeSettlements } from '../gateway/setup/forgeries.js';
import { openStack } from '../end-to-end/stack.js';

const [FLOWS, FORGERIES] = [20, 10_000];

export default {
  name: 'forgers',
  says: `fault 38: ${FORGERIES} forged settlements of ${FLOWS} flows, over HTTP`,
  async run(report: (line: string) => void): Promise<void> {
    const stack = await openStack({ env: { GATEWAY_RATE_LIMIT: '0', UNPROVEN_RATE_LIMIT: '0' } });
    try {
      const found = await forgeSettlements(stack, { flows: FLOWS, forgeries: FORGERIES });
      const { refused, kept, otherAnswers, moved, trusted, ends } = found;
      report(`${FORGERIES} forgeries: ${refused} refused, ${kept} kept as unverified, moved ${moved.length}`);
      if (refused + kept !== FORGERIES || moved.length > 0 || trusted > 0 || ends.some((end) => end !== 'completed')) {
        throw new Error(JSON.stringify({ otherAnswers, moved, trusted, ends }));
      }
    } finally {
      await stack.close();
    }
  },
};

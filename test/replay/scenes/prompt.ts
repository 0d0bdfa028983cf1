import { trusted } from '../../harness/inputs.js';
import { HAPPY, send, tracked, type Scenes } from '../scene.js';
import type { Stage } from '../stage.js';

/** No server listens there: a callback that fails is nothing to the flow. */
const WITH_CALLBACK = { callbackUrl: 'http://127.0.0.1:9/towline' };

async function broughtQuote(on: Stage): Promise<{ rate_id: string }> {
  const { rate_id } = await on.service.quoteBridge({
    source_currency: 'KES',
    source_amount: 1_000.5,
    crypto_chain: 'CELO',
    crypto_token: 'USDC',
  });
  return { rate_id };
}

/** Flows whose input is checked on their own worker, and whose callbacks come after the service's answer. */
export const prompt: Scenes = {
  'brought-quote-reported': {
    ends: 'completed',
    async play(on, reference) {
      const flow = await tracked(on, reference, { ...WITH_CALLBACK, ...(await broughtQuote(on)) });
      for (const status of HAPPY) await send(flow, trusted(status));
      return flow;
    },
  },

  'brought-quote-reported-rejected': {
    ends: 'failed',
    reason: 'rejected_by_service',
    async play(on, reference) {
      await on.sandbox('/scenarios', { reference, ending: 'rejected' });
      return on.start(reference, { ...WITH_CALLBACK, ...(await broughtQuote(on)) });
    },
  },

  'crypto-send-reported': {
    ends: 'completed',
    play: (on, reference) => on.startKind('crypto-send', reference, WITH_CALLBACK),
  },

  'onramp-invalid-input': {
    ends: 'failed',
    reason: 'invalid_input',
    play: (on, reference) => on.startKind('onramp', reference, { chain: 'MOON' }),
  },
};

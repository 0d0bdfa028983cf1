import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { UNDECODABLE, UNKNOWN_KEY } from '../../src/protocol/plaintext-marker.js';
import type { CallbackOrder, CallbackReport } from '../../src/protocol/callbacks.js';
import { CALLBACK_WORKFLOW, CHANGES_SIGNAL, callbackIdOf, RESEND_SIGNAL } from '../../src/protocol/vocabulary.js';
import { newReference } from '../harness/references.js';
import { openStack, type Stack } from '../harness/stack.js';

/** As the codec gives it to a worker that does not have its key. */
const sealed = { [UNDECODABLE]: `${UNKNOWN_KEY} next-year` };

describe('a message to a delivery of callbacks whose key its worker does not have yet', () => {
  // The model of the server stops at a workflow task that fails, where a real one retries it.
  let bench: Stack;
  beforeEach(async () => {
    bench = await openStack({ time: 'skipping' });
  });
  afterEach(() => bench.close());

  it.each([CHANGES_SIGNAL, RESEND_SIGNAL])(
    'is not dropped: the workflow task of "%s" fails, and waits for a worker that has the key',
    async (signal) => {
      const flowId = `crypto-send/${newReference('sealed')}`;
      const order: CallbackOrder = { flowId, url: 'http://127.0.0.1:9', timeScale: 1, changes: [] };
      const options = { taskQueue: bench.taskQueue, workflowId: callbackIdOf(flowId), args: [order] };
      const delivery = await bench.client.workflow.start(CALLBACK_WORKFLOW, options);
      expect(await delivery.query<CallbackReport>('callbacks')).toMatchObject({ state: 'delivered' });
      await delivery.signal(signal, sealed);
      await expect(delivery.query('callbacks')).rejects.toThrow(/next-year/);
    },
  );
});

import { describe, expect, it } from '@jest/globals';
import { InvalidError, JsonText, Towline } from '../../src/sdk/index.js';
import { run } from '../cli/run.js';
import { sample } from '../gateway/proxy/caller.js';
import { SERVICE_TOKEN } from '../harness/fixed.js';
import { newReference } from '../harness/references.js';
import { type Stack, withStack } from './stack.js';

const INEXACT = [
  ['CUSD', '7.123456789012345678', 'has more than 15 significant digits'],
  ['BTC', '0.000000005', 'An amount in BTC has at most 8 decimals'],
  ['USDC', '1.0000001', 'An amount in USDC has at most 6 decimals'],
] as const;

describe('an amount that cannot be sent exactly is refused before any claim, by the same sentence', () => {
  let stack: Stack;
  withStack({ env: { TIME_SCALE: '0.02' }, sandbox: { stepMs: 20 } }, (opened) => (stack = opened));

  /** Each returns what its user reads. */
  const WAYS: Readonly<Record<string, (reference: string, body: Record<string, unknown>) => Promise<string>>> = {
    'over HTTP': async (_reference, body) => {
      const { status, body: said } = await stack.post('/flows/crypto-send', body);
      expect(status).toBe(400);
      return JSON.stringify(said);
    },
    "by the service's own interface": async (_reference, body) => {
      const { path } = sample('sendCrypto', '');
      // As existing integrations write it: a JSON number, digit by digit.
      const text = JSON.stringify(body).replace(/"cryptoAmount":"([^"]*)"/, '"cryptoAmount":$1');
      const headers = { authorization: `Bearer ${SERVICE_TOKEN}`, 'content-type': 'application/json' };
      const answer = await fetch(stack.url + path, { method: 'POST', headers, body: text });
      expect(answer.status).toBe(400);
      return answer.text();
    },
    'by the command line': async (_reference, body) => {
      const env = { GATEWAY_URL: stack.url, TOWLINE_TOKEN: 'dev-token' };
      const { code, err } = await run(['start', 'crypto-send', '-'], env, JSON.stringify(body));
      expect(code).not.toBe(0);
      return err;
    },
    'by the TypeScript client': async (_reference, body) => {
      const towline = new Towline({ baseUrl: stack.url, token: 'dev-token' });
      const refused = await towline
        .start('crypto-send', new JsonText(JSON.stringify(body)))
        .catch((error: Error) => error);
      if (!(refused instanceof InvalidError)) throw new Error('it was not refused as invalid');
      return refused.message;
    },
    'by any Temporal client': async (reference, body) => {
      const { client, taskQueue } = stack;
      const started = { taskQueue, workflowId: `crypto-send/${reference}`, args: [body] };
      const error = await client.workflow.execute('cryptoSend', started).catch((failure: Error) => failure);
      expect(error).toMatchObject({ cause: { type: 'invalid_input' } });
      return String((error as Error).cause);
    },
  };

  it.each(Object.keys(WAYS))('when it comes %s', async (way) => {
    for (const [token, cryptoAmount, sentence] of INEXACT) {
      const reference = newReference('inexact');
      const { body } = sample('sendCrypto', reference);
      expect(await WAYS[way]!(reference, { ...body, token, cryptoAmount })).toContain(sentence);
      expect(await stack.store.claims.ofFlow(`crypto-send/${reference}`)).toEqual([]);
      const { count } = await stack.control('GET', `/executions?operation=sendCrypto&reference=${reference}`);
      expect(count).toBe(0);
    }
  });
});

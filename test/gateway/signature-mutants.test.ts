import { Agent } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { inTurns } from '../faults/in-turns.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';
import { hmacMutants, sentBy } from './setup/hmac-mutants.js';
import { createRandom, type Random } from './setup/random.js';
import { rawRequest } from './setup/raw-request.js';
import { signatureMutants, type Mutant } from './setup/signature-mutants.js';

const SECRET = `whsec_${Buffer.alloc(32, 40).toString('base64')}`;
const COUNT = 2_000;
const BODY = JSON.stringify({
  event: 'transaction.deposit.status.updated',
  data: { reference_id: 'm', status: 'FAILED' },
});

const standard = (count: number, random: Random) => signatureMutants(SECRET, BODY, count, random);
const rawHmac = (count: number, random: Random) => hmacMutants('raw-hmac', SECRET, count, random);
const jsonHmac = (count: number, random: Random) => hmacMutants('kotani', SECRET, count, random);

/** A wrong signature next to a right one of another profile. */
function* mixed(count: number, random: Random): Generator<Mutant> {
  const mutants = [...standard(count / 4, random), ...rawHmac(count / 4, random), ...jsonHmac(count / 2, random)];
  for (const [n, mutant] of mutants.entries()) {
    const { headers } = sentBy('standard-webhooks', SECRET, {});
    const another = n >= count / 4 && n % 3 === 0 ? headers : {};
    yield { body: mutant.body, headers: { ...another, ...mutant.headers } };
  }
}

describe('fault 40: mutants of signed deliveries', () => {
  it.each([
    ['standard-webhooks', standard],
    ['raw-hmac', rawHmac],
    ['json-hmac', jsonHmac],
    ['auto', mixed],
  ])(
    '2,000 under WEBHOOK_PROFILE=%s: accepted 0, 500s 0',
    async (profile, mutants) => {
      const tested = await gatewayUnderTest({
        temporalAddress: '127.0.0.1:1',
        env: { WEBHOOK_PROFILE: profile, WEBHOOK_SECRETS: SECRET },
      });
      const path = new URL(tested.gateway.inbound.webhook).pathname;
      const agent = new Agent({ keepAlive: true, maxSockets: 8 });
      const statuses = await inTurns([...mutants(COUNT, createRandom(40))], 8, async ({ body, headers }) => {
        const answer = await rawRequest(tested.url, path, body, headers, agent);
        return answer.status;
      });
      const { byState } = await tested.store.inbox.counts();
      const genuine = sentBy(
        profile === 'standard-webhooks' ? profile : profile === 'raw-hmac' ? profile : 'kotani',
        SECRET,
        {},
      );
      const { status } = await rawRequest(tested.url, path, genuine.body, genuine.headers);
      agent.destroy();
      await tested.close();
      expect(statuses).toHaveLength(COUNT);
      expect(new Set(statuses)).toEqual(new Set([400, 401]));
      expect(Object.values(byState).every((count) => count === 0)).toBe(true);
      // The same sender, unchanged: what refused the others was their change.
      expect(status).toBe(200);
    },
    60_000,
  );
});

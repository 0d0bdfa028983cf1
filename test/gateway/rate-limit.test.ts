import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRateLimit, networkOf } from '../../src/gateway/http/rate-limit.js';
import { rawRequest } from './setup/raw-request.js';
import { signed } from './setup/sign.js';
import { SETTLEMENT_SECRET } from '../harness/fixed.js';
import { gatewayUnderTest, type GatewayUnderTest } from './setup/gateway-under-test.js';
import { newReference } from '../harness/references.js';
import { settlement } from '../harness/inputs.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
const BURST = 10;
const times = (count: number) => Array.from({ length: count }, (_, n) => n);

describe('a rate limit', () => {
  it('allows ten seconds’ worth at once, then so many a second, for each name on its own', () => {
    let nowMs = 0;
    const limit = createRateLimit(2, () => nowMs);
    const taken = (name: string) => {
      for (let count = 0; ; count += 1) {
        try {
          limit.take(name);
        } catch (error) {
          expect(error).toMatchObject({ status: 429, retryAfter: 1 });
          return count;
        }
      }
    };
    expect([taken('a'), taken('a'), taken('b')]).toEqual([20, 0, 20]);
    nowMs = 1_500;
    expect([taken('a'), taken('b')]).toEqual([3, 3]);
    nowMs = 3_600_000;
    expect(taken('a')).toBe(20);
  });

  it('does not grow with the names of those who come once', () => {
    let nowMs = 0;
    const limit = createRateLimit(1, () => nowMs);
    for (const n of times(50_000)) {
      nowMs += 10;
      limit.take(`address ${n}`);
    }
    expect(() => times(BURST).forEach(() => limit.take('a'))).not.toThrow();
    expect(() => limit.take('a')).toThrow(/Too many/);
  });

  it('forgets those of very many busy names that were used least recently, and not the latest', () => {
    const limit = createRateLimit(1, () => 0);
    times(BURST).forEach(() => limit.take('busy'));
    for (const n of times(10_000)) limit.take(`address ${n}`);
    // The busiest came first: it starts again; one that came late does not.
    expect(() => limit.take('busy')).not.toThrow();
    times(BURST - 1).forEach(() => limit.take('address 9999'));
    expect(() => limit.take('address 9999')).toThrow(/Too many/);
  });

  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('counts %s as %s: a subscriber has a whole /64 of IPv6', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('counts 20,000 addresses of one /64 as one, and those of another on their own', () => {
    const limit = createRateLimit(1, () => 0);
    const taken = (network: string) =>
      times(20_000).filter((n) => {
        const address = `${network}:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::1`;
        try {
          limit.take(networkOf(address));
          return true;
        } catch {
          return false;
        }
      }).length;
    expect([taken('2001:db8:1:2'), taken('2001:db8:1:3')]).toEqual([BURST, BURST]);
  });

  it('of 0 is none', () => {
    const limit = createRateLimit(0);
    for (const _ of times(10_000)) expect(() => limit.take('a')).not.toThrow();
  });
});

describe('a gateway that is called too often', () => {
  let tested: GatewayUnderTest;
  let monotonicMs = 0;
  beforeAll(async () => {
    tested = await gatewayUnderTest({
      temporalAddress: '127.0.0.1:1',
      gateway: { monotonicMs: () => monotonicMs },
      env: {
        GATEWAY_RATE_LIMIT: '1',
        UNPROVEN_RATE_LIMIT: '1',
        GATEWAY_TOKENS: 'ann:flows:anns-secret,bob:admin:bobs-secret',
      },
    });
  });
  afterAll(() => tested.close());
  const as = (secret: string) => rawRequest(tested.url, '/card-tokens', '[]', { authorization: `Bearer ${secret}` });
  const statuses = async (count: number, send: () => Promise<{ status: number }>) => {
    const answers = await Promise.all(times(count).map(send));
    return answers.map(({ status }) => status);
  };

  it('answers 429 and when to try again, only to that token', async () => {
    const answers = await Promise.all(times(30).map(() => as('anns-secret')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(20);
    expect(refused.every(({ headers }) => headers['retry-after'] === '1')).toBe(true);
    expect(JSON.parse(refused[0]?.body ?? '')).toMatchObject({ success: false });
    expect((await as('bobs-secret')).status).not.toBe(429);
    monotonicMs += 2_000;
    const later = await statuses(5, () => as('anns-secret'));
    expect(later.filter((status) => status !== 429)).toHaveLength(2);
  });

  it('takes every event that is proven, and of the others no more than it can keep', async () => {
    const bodies = times(40).map((n) => JSON.stringify(settlement(newReference(), 'COMPLETED', { n })));
    const forged = await Promise.all(bodies.map((body) => tested.post(SETTLEMENT_PATH, body)));
    expect(forged.filter(({ status }) => status === 429)).toHaveLength(forged.length - BURST);
    const proven = await Promise.all([
      ...bodies.map((body) => tested.post(SETTLEMENT_PATH, body, signed(SETTLEMENT_SECRET, body))),
      ...times(40).map((n) => tested.post(tested.callbackPath(newReference()), { n })),
    ]);
    expect(new Set(proven.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

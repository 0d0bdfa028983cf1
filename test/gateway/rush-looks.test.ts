import { describe, expect, it } from '@jest/globals';
import { createRushLooks } from '../../src/gateway/dispatch/rush-looks.js';

describe('looks into the inbox in a rush', () => {
  const start = () => {
    const clock = { ms: 1_000, isRush: false };
    const looks = createRushLooks(() => clock.isRush, { monotonicMs: () => clock.ms, wallMs: () => clock.ms });
    const receivedAt = (ms: number) => new Date(ms).toISOString();
    return { clock, looks, receivedAt };
  };

  it('are due at once without a rush, and as soon as one is over', () => {
    const { clock, looks } = start();
    expect(looks.heldBackMs()).toBe(0);
    clock.isRush = true;
    expect(looks.heldBackMs()).toBeGreaterThan(0);
    clock.isRush = false;
    expect(looks.heldBackMs()).toBe(0);
    clock.isRush = true;
    expect(looks.heldBackMs()).toBe(3_000);
  });

  it('are due three seconds after its first event, and three seconds after each other', () => {
    const { clock, looks, receivedAt } = start();
    clock.isRush = true;
    expect(looks.heldBackMs()).toBe(3_000);
    clock.ms += 2_500;
    expect(looks.heldBackMs()).toBe(500);
    clock.ms += 500;
    expect(looks.heldBackMs()).toBe(0);
    looks.looked(receivedAt(1_200), false);
    expect(looks.heldBackMs()).toBe(3_000);
  });

  it('go on while there are more flows than places, for what had come before the first of them, and for no more', () => {
    const { clock, looks, receivedAt } = start();
    clock.isRush = true;
    looks.heldBackMs();
    clock.ms += 3_000;
    looks.looked(receivedAt(1_001), true);
    expect(looks.heldBackMs()).toBe(0);
    clock.ms += 300;
    looks.looked(receivedAt(3_999), true);
    expect(looks.heldBackMs()).toBe(0);
    clock.ms += 300;
    looks.looked(receivedAt(4_001), true);
    expect(looks.heldBackMs()).toBe(3_000);
  });

  it('that find nothing put off nothing', () => {
    const { clock, looks } = start();
    clock.isRush = true;
    looks.heldBackMs();
    clock.ms += 3_000;
    looks.looked(undefined, false);
    expect(looks.heldBackMs()).toBe(0);
  });
});

import type { RelayedAnswer } from '../../service-client/index.js';
import type { ReadName } from '../../flows/service-interface.js';
import type { Caller } from '../http/bearer-token.js';
import { createPageLimit } from '../flows/charged-pages.js';
import { Refusal } from '../http/refusal.js';
import { relay } from './relay.js';

/** For each name; for all together twice as many. The rest of what the service allows the account is for money. */
const READS_PER_SECOND = 20;

export interface ServiceReads {
  /**
   * A record of the service, for whoever asks for it at the same time.
   * @throws Refusal as `quote` does
   */
  read(caller: Pick<Caller, 'name'>, name: ReadName, reference: string): Promise<RelayedAnswer>;
  /**
   * A quote of the service: it counts as a read.
   * @throws Refusal 429 if this name, or all together, ask too often, 503 until the service takes requests again, and as
   * `relay` does
   */
  quote(caller: Pick<Caller, 'name'>, body: unknown): Promise<RelayedAnswer>;
}

/**
 * The service counts the requests of the account, whoever's they are: one that reads without end would have everybody's money
 * turned away, for as long as the service says.
 */
export function createServiceReads(
  service: Parameters<typeof relay>[0]['service'],
  monotonicMs: () => number,
): ServiceReads {
  const take = createPageLimit(READS_PER_SECOND, monotonicMs);
  const open = new Map<string, Promise<RelayedAnswer>>();
  /** Of each operation: the service counts them one by one. */
  const pausedUntilMs = new Map<ReadName | 'quoteBridge', number>();

  const ask = async (name: ReadName | 'quoteBridge', argument: unknown): Promise<RelayedAnswer> => {
    const pauseMs = (pausedUntilMs.get(name) ?? -Infinity) - monotonicMs();
    if (pauseMs > 0) {
      const why = 'The service takes no more requests now. Try again.';
      throw new Refusal(503, why, { code: 'service_rate_limited' }, Math.ceil(pauseMs / 1_000));
    }
    const answer = await relay({ service }, name, argument);
    // A 429 that names no time may be about this record alone.
    if (answer.retryAfterMs !== undefined) {
      const untilMs = monotonicMs() + answer.retryAfterMs;
      pausedUntilMs.set(name, Math.max(pausedUntilMs.get(name) ?? untilMs, untilMs));
    }
    return answer;
  };

  return {
    async read({ name: caller }, name, reference) {
      take(caller);
      const key = JSON.stringify([name, reference]);
      const asked = open.get(key) ?? ask(name, reference).finally(() => open.delete(key));
      open.set(key, asked);
      return asked;
    },
    async quote({ name: caller }, body) {
      take(caller);
      return ask('quoteBridge', body);
    },
  };
}

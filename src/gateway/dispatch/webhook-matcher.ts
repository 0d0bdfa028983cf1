import type { Logger } from 'pino';
import { every, systemClock, type Clock } from '../../clock.js';
import type { InboxRow, ReceivedEvent } from '../../protocol/events.js';
import type { InboxStore } from '../../store/inbox.js';
import { StoreUnavailableError } from '../../store/store-errors.js';
import { openEventMatter, type MatterStore } from '../../store/matters.js';
import { errorForLog } from '../http/refusal.js';
import type { Dispatcher } from './dispatcher.js';
import type { Drain } from './drain.js';
import type { UnreadableFlows } from './unreadable-flows.js';

export interface WebhookMatcher {
  /** A webhook came that has to be matched, with a proof or without. Never waits and never throws. */
  nudge(isProven: boolean): void;
  start(): void;
  /** Resolves when nothing is in flight any more. Unmatched webhooks stay in the inbox. */
  stop(): Promise<void>;
}

export interface WebhookMatcherDeps {
  readonly inbox: Pick<InboxStore, 'toMatch' | 'match' | 'settle'>;
  /** Gets a matter for what people must know at once. */
  readonly matters: Pick<MatterStore, 'open'>;
  /** Finds the flow of a webhook by the claims. */
  readonly matchOf: (body: unknown) => Promise<Pick<ReceivedEvent, 'flowId' | 'reference' | 'status'>>;
  readonly dispatcher: Pick<Dispatcher, 'nudge'>;
  readonly unreadable: Pick<UnreadableFlows, 'examine'>;
  readonly drain: Pick<Drain, 'finish'>;
  readonly logger: Logger;
  /** How often it checks by itself, for webhooks that another gateway left behind or could not match. @default 1000 */
  readonly everyMs?: number | undefined;
  /** @default the system's */
  readonly clock?: Clock;
}

const ROWS_AT_ONCE = 20;

/**
 * Finds the flow of each account webhook whose match takes too long for its sender to wait. One at a time: each needs
 * several queries about claims, and a sender of many webhooks must not take the claims' connections. Those without a
 * proof are matched separately, so that those with one never wait for them.
 */
export function createWebhookMatcher(deps: WebhookMatcherDeps): WebhookMatcher {
  const { inbox, matchOf, dispatcher, unreadable, logger, clock = systemClock } = deps;
  const [proven, unproven] = [lane(true), lane(false)];
  let stopped = true;
  let stopLooking: (() => void) | undefined;

  function lane(isProven: boolean): { readonly nudge: () => void; readonly finished: () => Promise<void> | undefined } {
    let again = false;
    let matching: Promise<void> | undefined;

    async function matchAll(): Promise<void> {
      try {
        while (again) {
          again = false;
          await matchEach(isProven);
        }
      } catch (error) {
        logger.warn({ error: errorForLog(error) }, 'account webhooks wait: the claims cannot be read; trying again');
      }
    }

    return {
      nudge() {
        if (stopped) return;
        again = true;
        matching ??= matchAll().finally(() => (matching = undefined));
      },
      finished: () => matching,
    };
  }

  const nudgeBoth = (): void => {
    proven.nudge();
    unproven.nudge();
  };

  async function matchEach(isProven: boolean): Promise<void> {
    let after: string | undefined;
    do {
      const rows = await inbox.toMatch({ proven: isProven, most: ROWS_AT_ONCE, after });
      for (const row of rows) {
        if (stopped) return;
        await matchOne(row).catch((error: unknown) => {
          if (error instanceof StoreUnavailableError) throw error;
          // Of this row alone, such as a claim that cannot be opened: the others do not wait for it.
          logger.error({ alarm: 'event_not_matched', event: row.id, error: errorForLog(error) }, 'ALARM');
        });
      }
      after = rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)?.id;
    } while (after !== undefined);
  }

  async function matchOne(row: InboxRow): Promise<void> {
    const hopeless = unreadable.examine({ flowId: `webhook ${row.id}`, rows: [row] });
    if (hopeless === 'key may come') return;
    if (hopeless.length > 0) {
      logger.error({ alarm: 'event_quarantined', event: row.id, why: row.unreadable }, 'ALARM');
      await openEventMatter(deps.matters, { kind: 'event_quarantined', eventId: row.id });
      const detail = 'It could not be opened: which flow it is about is unknown.';
      return inbox.settle([{ id: row.id, state: 'quarantined', detail }]);
    }
    await inbox.match(row.id, await matchOf(row.body));
    dispatcher.nudge();
  }

  return {
    nudge: (isProven) => (isProven ? proven : unproven).nudge(),
    start() {
      stopped = false;
      stopLooking = every(clock, deps.everyMs ?? 1_000, nudgeBoth);
      nudgeBoth();
    },
    async stop() {
      stopped = true;
      stopLooking?.();
      await deps.drain.finish(Promise.all([proven.finished(), unproven.finished()]));
    },
  };
}

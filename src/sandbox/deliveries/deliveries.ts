import type { Clock } from '../clock.js';
import type { Database } from '../database.js';
import type { Scheduler } from '../scheduler.js';
import type { LiveSettings, Settings } from '../settings.js';
import type { Adversary, Copy } from './adversary.js';
import type { Manner, Message } from './message.js';

/** `dropped`: the adversary dropped all of it. */
type DeliveryState = 'pending' | 'delivered' | 'given-up' | 'dropped';

export interface Delivery extends Message {
  readonly id: number;
  /** `genuine`, or what the adversary did to it. */
  readonly note: string;
  readonly webhookId: string;
  readonly manner: Manner;
  /** The text that the signature covers, if that is not the body. */
  readonly signedBody: string | null;
  readonly state: DeliveryState;
  readonly tries: number;
  /** Null: attempts continue until the settings say to give up. */
  readonly maxTries: number | null;
  readonly createdAt: number;
}

interface Attempt {
  readonly at: string;
  /** HTTP status, or null without an answer. */
  readonly status: number | null;
  readonly answer: string;
}

export interface Deliveries {
  /** Inside `database.write`; makes the message's deliveries, genuine and adversary's, and gives their jobs' ids. */
  send(message: Message, options?: { delayMs?: number }): number[];
  get(id: number): Delivery | undefined;
  /** Whether an older one of the same stream and reference is still on its way. */
  isBehindAnother(delivery: Delivery): boolean;
  /** Inside `database.write`. */
  attempted(id: number, state: DeliveryState, attempt: { status: number | null; answer: string }): void;
  list(filter: {
    reference?: string | undefined;
    state?: string | undefined;
  }): readonly (Delivery & { readonly attempts: readonly Attempt[] })[];
  countByState(): Record<string, number>;
}

export const DELIVERY_JOB = 'delivery';

const COLUMNS = `id, stream, note, reference, status, event, url, webhook_id AS webhookId, manner, body,
  signed_body AS signedBody, state, tries, max_tries AS maxTries, created_at AS createdAt`;

export function createDeliveries(deps: {
  database: Database;
  clock: Clock;
  scheduler: Pick<Scheduler, 'schedule'>;
  adversary: Adversary;
  settings: LiveSettings;
  createId: () => string;
}): Deliveries {
  const { database, clock, scheduler, adversary, settings, createId } = deps;

  const plain = (row: Delivery): Delivery => ({
    id: row.id,
    stream: row.stream,
    note: row.note,
    reference: row.reference,
    status: row.status,
    event: row.event,
    url: row.url,
    webhookId: row.webhookId,
    manner: row.manner,
    body: row.body,
    signedBody: row.signedBody,
    state: row.state,
    tries: row.tries,
    maxTries: row.maxTries,
    createdAt: row.createdAt,
  });

  const insert = (message: Message, copy: Copy, webhookId: string): number =>
    database.run(
      `INSERT INTO deliveries (stream, note, reference, status, event, url, webhook_id, manner, body, signed_body, state,
         tries, max_tries, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)`,
      message.stream,
      copy.note,
      message.reference,
      message.status,
      message.event,
      copy.url,
      webhookId,
      copy.manner,
      copy.body,
      // A forger has no signature to lend.
      copy.body === message.body || copy.manner !== 'plain' ? null : message.body,
      copy.lost === 'everything' ? 'dropped' : 'pending',
      copy.maxTries,
      clock.now(),
    ).id;

  const attempted: Deliveries['attempted'] = (id, state, { status, answer }) => {
    database.run('UPDATE deliveries SET state = ?, tries = tries + 1 WHERE id = ?', state, id);
    database.run(
      'INSERT INTO attempts SELECT id, tries, ?, ?, ? FROM deliveries WHERE id = ?',
      clock.now(),
      status,
      answer,
      id,
    );
  };

  /** Gives the wait until the attempt after it. */
  function loseOne(id: number, { maxTries }: Copy): number {
    attempted(id, 'pending', { status: null, answer: 'lost on the way, by the adversary' });
    return waitBeforeRetry(settings.current(), { tries: 1, maxTries, ageMs: 0 }) ?? 0;
  }

  return {
    send(message, { delayMs = 0 } = {}) {
      const webhookId = `msg_${createId()}`;
      return adversary.copies(message).flatMap((copy) => {
        const id = insert(message, copy, copy.newId ? `msg_${createId()}` : webhookId);
        if (copy.lost === 'everything') return [];
        const waitMs = copy.lost === 'nothing' ? 0 : loseOne(id, copy);
        return [scheduler.schedule(DELIVERY_JOB, delayMs + copy.delayMs + waitMs, { id })];
      });
    },
    get(id) {
      const row = database.get<Delivery>(`SELECT ${COLUMNS} FROM deliveries WHERE id = ?`, id);
      return row && plain(row);
    },
    isBehindAnother: ({ id, stream, reference }) =>
      database.get(
        `SELECT id FROM deliveries WHERE reference = ? AND stream = ? AND state = 'pending' AND id < ?`,
        reference,
        stream,
        id,
      ) !== undefined,
    attempted,
    list({ reference, state }) {
      return database
        .all<Delivery>(
          `SELECT ${COLUMNS} FROM deliveries
           WHERE (?1 IS NULL OR reference = ?1) AND (?2 IS NULL OR state = ?2) ORDER BY id`,
          reference ?? null,
          state ?? null,
        )
        .map((row) => ({
          ...plain(row),
          attempts: database
            .all<{
              at: number;
              status: number | null;
              answer: string;
            }>('SELECT at, status, answer FROM attempts WHERE delivery_id = ? ORDER BY try', row.id)
            .map(({ at, status, answer }) => ({ at: clock.iso(at), status, answer })),
        }));
    },
    countByState() {
      const rows = database.all<{ state: string; n: number }>(
        'SELECT state, COUNT(*) AS n FROM deliveries GROUP BY state',
      );
      return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
    },
  };
}

/** Wait after this many failed attempts, or undefined if the delivery is given up. Pure. */
export function waitBeforeRetry(
  settings: Pick<Settings, 'retryScheduleMs' | 'retryForMs'>,
  delivery: { readonly tries: number; readonly maxTries: number | null; readonly ageMs: number },
): number | undefined {
  const { retryScheduleMs, retryForMs } = settings;
  if (delivery.maxTries !== null && delivery.tries >= delivery.maxTries) return undefined;
  const wait = retryScheduleMs[Math.min(delivery.tries, retryScheduleMs.length) - 1] ?? 0;
  return delivery.ageMs + wait > retryForMs ? undefined : wait;
}

/** Every number in it as text: "a number may come as a string" (the live service). Pure. */
export function withNumbersAsText(value: object): object {
  return JSON.parse(JSON.stringify(value), (_key, member: unknown) =>
    typeof member === 'number' ? String(member) : member,
  ) as object;
}

import type { Clock } from '../clock.js';
import type { Announce } from '../deliveries/announce.js';
import type { History, Mover } from '../history.js';
import type { Ledger } from '../ledger.js';
import type { JobKind, Scheduler } from '../scheduler.js';
import type { LiveSettings } from '../settings.js';
import { advance, following, type Input, type Script, scriptOf, wordOf } from './lifecycle.js';
import type { Transaction, Transactions } from './transactions.js';
import type { Kind } from './kind.js';

export const TRANSACTION_JOB = 'transaction-step';

export interface Carrier {
  /** Sets a new transaction going; inside `database.write`. */
  begin(transaction: Transaction): void;
  /** Applies time, an invoice or a manual move to it; inside `database.write`. Undefined if nothing changed. */
  apply(id: string, input: Input): { readonly status: string; readonly jobs: readonly number[] } | undefined;
  /** Advances by time until a callback is due; returns the jobs that send it. Inside `database.write`. */
  untilAnswered(id: string): readonly number[];
  readonly job: JobKind;
}

const MOVERS: Readonly<Record<Input['kind'], Mover>> = {
  time: 'time',
  invoice: 'request',
  payment: 'time',
  control: 'control',
};

/** Moves transactions of every kind along their lifecycles: status, history, ledger, callbacks, and the next step. */
export function createCarrier(deps: {
  transactions: Transactions;
  kindOf: (operation: string) => Kind;
  history: History;
  ledger: Ledger;
  announce: Announce;
  scheduler: Pick<Scheduler, 'schedule'>;
  clock: Clock;
  settings: LiveSettings;
  /** Another transaction may have waited for this. */
  onEntered: (transaction: Transaction) => void;
}): Carrier {
  const { transactions, kindOf, history, ledger, announce, scheduler, clock, settings, onEntered } = deps;

  function planNext({ id, status, ending }: Transaction, kind: Kind): void {
    const script = scriptOf(kind.lifecycle, ending);
    if (following(kind.lifecycle, script, status) === undefined) return;
    scheduler.schedule(TRANSACTION_JOB, waitAt(script, status), { id, from: status });
  }

  function waitAt(script: Script, status: string): number {
    const { stepMs, slowFactor, lateMs } = settings.current();
    if (script.pace === 'slow') return stepMs * slowFactor;
    const isBeforeLast = script.path.length < 2 || status === script.path.at(-2);
    return script.pace === 'late' && isBeforeLast ? lateMs : stepMs;
  }

  function post(transaction: Transaction, kind: Kind, from: string | null, to: string): void {
    const move = kind.move(transaction as Transaction<never>, from, to);
    if (move === undefined) return;
    const { reference, executionId } = transaction;
    ledger.post({ kind: move.kind, reference, executionId, postings: move.postings });
  }

  function announceChange(transaction: Transaction, kind: Kind, before: string): readonly number[] {
    const { lifecycle } = kind;
    const { vocabulary } = settings.current();
    const word = wordOf(lifecycle, transaction.status, vocabulary);
    const hasChanged = word !== wordOf(lifecycle, before, vocabulary);
    if (scriptOf(lifecycle, transaction.ending).callbacks === false) return [];
    const typed = transaction as Transaction<never>;
    const data = kind.data(typed, word, clock.iso());
    const common = { reference: transaction.reference, status: word };
    const url = kind.callbackUrl(typed.body);
    const also = kind.alsoTells(typed, data, clock.iso());
    return [
      ...(hasChanged && url !== undefined ? announce.callback({ ...common, url, event: kind.event, data }) : []),
      ...(hasChanged ? announce.webhook({ ...common, event: kind.event, data }) : []),
      ...also.flatMap((notice) => announce.webhook({ ...common, ...notice })),
    ];
  }

  function enter(before: Transaction, kind: Kind, status: string, by: Mover): readonly number[] {
    transactions.setStatus(before.id, status);
    history.add(before.id, status, by);
    post(before, kind, before.status, status);
    const now = transactions.get(before.id) ?? before;
    onEntered(now);
    planNext(now, kind);
    return announceChange(now, kind, before.status);
  }

  const apply: Carrier['apply'] = (id, input) => {
    const transaction = transactions.get(id);
    if (transaction === undefined) return undefined;
    const kind = kindOf(transaction.operation);
    const script = scriptOf(kind.lifecycle, transaction.ending);
    const status = advance(kind.lifecycle, script, transaction.status, input);
    if (status === undefined) return undefined;
    return { status, jobs: enter(transaction, kind, status, MOVERS[input.kind]) };
  };

  return {
    begin(transaction) {
      const kind = kindOf(transaction.operation);
      history.add(transaction.id, transaction.status, 'request');
      post(transaction, kind, null, transaction.status);
      planNext(transaction, kind);
    },
    apply,
    untilAnswered(id) {
      for (;;) {
        const from = transactions.get(id)?.status;
        const applied = from === undefined ? undefined : apply(id, { kind: 'time', from });
        if (applied === undefined || applied.jobs.length > 0) return applied?.jobs ?? [];
      }
    },
    job: {
      lane: 'commit',
      run: ({ id, from }: { id: string; from: string }) => void apply(id, { kind: 'time', from }),
    },
  };
}

import type { Vocabulary } from '../settings.js';

type RefusalReason = 'transaction-failed' | 'insufficient-funds';

/** The course of one transaction. */
export interface Script<S extends string = string> {
  /** Shown in the docs. */
  readonly story: string;
  /** Its further statuses, one step of time after the other. */
  readonly path: readonly S[];
  /** False: no callback is ever sent, neither to the callback URL nor to the account's webhook. */
  readonly callbacks?: false;
  /** `slow`: every step takes `slowFactor` times longer. `late`: the last step takes `lateMs`. */
  readonly pace?: 'slow' | 'late';
  /** The status to which a refund invoice moves it, at the end of its path. */
  readonly onInvoice?: S;
  /** The request is refused, and nothing is executed. */
  readonly refuses?: RefusalReason;
}

/** The life of one kind of transaction, as data; `advance()` reads it. */
export interface Lifecycle<S extends string = string> {
  readonly initial: S;
  /** Every move that exists. A transaction never leaves this table. */
  readonly moves: Readonly<Record<S, readonly S[]>>;
  readonly endings: Readonly<Record<string, Script<S>>>;
  /** The two decimals of the amount, or the last two digits of a phone number, that choose an ending. */
  readonly magic: Readonly<Record<string, string>>;
  /** The word on the wire for a status, by vocabulary; the status itself if none is given. */
  readonly words: Readonly<Record<Vocabulary, Readonly<Partial<Record<S, string>>>>>;
}

/** Inputs of a transaction: its time has come, a refund invoice arrived, it was paid, or it was moved by hand. */
export type Input =
  | { readonly kind: 'time'; readonly from: string }
  | { readonly kind: 'invoice' }
  | { readonly kind: 'payment' | 'control'; readonly status: string };

export const COMPLETED = 'completed';

/** An ending that the lifecycle does not know is treated as `completed`. */
export const scriptOf = (lifecycle: Lifecycle, ending: string): Script =>
  (lifecycle.endings[ending] ?? lifecycle.endings[COMPLETED]) as Script;

/** The status after the one on the script's way; undefined at its end, and beside it. Pure. */
export function following(lifecycle: Lifecycle, script: Script, status: string): string | undefined {
  const way = [lifecycle.initial, ...script.path];
  const at = way.indexOf(status);
  return at < 0 ? undefined : way[at + 1];
}

/** The status after `input`; undefined if nothing changes. Pure, and never outside of the table. */
export function advance(lifecycle: Lifecycle, script: Script, status: string, input: Input): string | undefined {
  const next = wanted(lifecycle, script, status, input);
  return next !== undefined && (lifecycle.moves[status] ?? []).includes(next) ? next : undefined;
}

function wanted(lifecycle: Lifecycle, script: Script, status: string, input: Input): string | undefined {
  switch (input.kind) {
    case 'time':
      return input.from === status ? following(lifecycle, script, status) : undefined;
    case 'invoice':
      return status === script.path.at(-1) ? script.onInvoice : undefined;
    case 'payment':
    case 'control':
      return input.status;
    default:
      return input satisfies never;
  }
}

/** The wire's word for a status. */
export const wordOf = (lifecycle: Lifecycle, status: string, vocabulary: Vocabulary): string =>
  lifecycle.words[vocabulary][status] ?? status;

import { createHash, randomUUID } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { queryOf } from './pool.js';
import type { Turn } from '../sql-connection.js';
import type { Request, StepResult } from '../sql-message.js';
import { systemClock } from '../../clock.js';

/** The connection was lost during the commit: only the database knows its outcome. */
export interface LostCommit {
  /** In the table `commits` if it was committed. */
  readonly mark: string;
  readonly results: readonly (readonly StepResult[])[];
}

export class CommitLostError extends Error {
  override readonly name = 'CommitLostError';
  readonly commit: LostCommit;

  constructor(commit: LostCommit, cause: unknown) {
    super('The connection was lost during a commit', { cause });
    this.commit = commit;
  }
}

/**
 * Some requests of one turn as one transaction.
 *
 * @param lost an earlier attempt whose commit may have happened. It held the lock that this one waits for until it was
 * committed or undone, so if it ever happens, it is visible here; then its results are returned and nothing is repeated
 * @throws CommitLostError, else the error because of which the database undid it
 */
export async function transact(
  pool: Pool,
  turn: Turn,
  requests: readonly Request[],
  lost?: LostCommit,
): Promise<readonly (readonly StepResult[])[]> {
  const client = await pool.connect();
  // A connection with an error is not used again; the server undoes its open transaction.
  let isSound = false;
  try {
    const begun = client.query(beginOf(turn));
    if (lost !== undefined) {
      const [, found] = await Promise.all([
        begun,
        client.query(queryOf({ sql: 'SELECT 1 FROM commits WHERE id = ?', params: [lost.mark] })),
      ]);
      if (found.rows.length > 0) {
        await client.query('ROLLBACK');
        isSound = true;
        return lost.results;
      }
    }
    const [, results] = await firstFailure([begun, inOrder(client, requests)] as const);
    await commit(client, turn, results);
    isSound = true;
    return results;
  } finally {
    client.release(!isSound);
  }
}

async function commit(client: ClientBase, turn: Turn, results: LostCommit['results']): Promise<void> {
  const mark = randomUUID();
  const note = turn.repeatable ? '' : `INSERT INTO commits (id, at) VALUES ('${mark}', ${systemClock.nowMs()}); `;
  try {
    await client.query(`${note}COMMIT`);
  } catch (error) {
    throw judgePostgresError(error).kind === 'lost' ? new CommitLostError({ mark, results }, error) : error;
  }
}

/** The advisory lock of the turn of this name. */
export const lockOf = (turn: string): bigint =>
  createHash('sha256').update(`towline ${turn}`).digest().readBigInt64BE();

/**
 * READ COMMITTED, so that what follows the lock sees what its last holder committed. A default of the server or of a
 * role must not make a commit less durable, and a process that hangs must not keep the others waiting.
 */
function beginOf({ name, takes = [name], isLocal }: Turn): string {
  const take = takes.map((taken) => `;\n    SELECT pg_advisory_xact_lock(${lockOf(taken)})`).join('');
  const takeTurn = isLocal === true ? '' : take;
  return `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
    SELECT set_config('synchronous_commit',
      CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, true);
    SET LOCAL idle_in_transaction_session_timeout = 10000;
    SET LOCAL lock_timeout = 10000${takeTurn}`;
}

async function inOrder(client: ClientBase, requests: readonly Request[]): Promise<StepResult[][]> {
  const asked = requests.flat().map((step) => client.query(queryOf(step)));
  const answers = (await firstFailure(asked)).map(({ rows, rowCount }) => ({ rows, changes: rowCount ?? 0 }));
  return requests.map((request) => answers.splice(0, request.length));
}

/** All at once, like `Promise.all`, but rejects with the first reason in order: the later ones follow from it. */
async function firstFailure<Parts extends readonly unknown[]>(
  parts: Parts,
): Promise<{ -readonly [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  const failed = (await Promise.allSettled(parts)).find((part) => part.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return Promise.all(parts);
}

/**
 * What an error of `pg` means for a transaction. `lost`: the connection is gone, and with it the server's last answer.
 * `again`: the server undid it, and may accept it later. `refused`: it can never succeed as it is.
 */
export interface PostgresFailure {
  readonly kind: 'lost' | 'again' | 'refused';
  /** SQLSTATE, a code of the system, or `CONNECTION`. Never a message: those may quote values, users and hosts. */
  readonly code: string;
}

/** Connection exceptions, and those with which the server ends a session. */
const LOST = /^(08...|57P..|25P03|25P04)$/;
/** Of an SQLSTATE. No class begins with E, as the codes of the system do: EPIPE is as long as one. */
const SQLSTATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;
/** Bad data, constraints, limits of the database itself, and statements that are wrong or not allowed. */
const REFUSED = /^(0A...|21...|22...|23...|42...|54...)$/;

export function judgePostgresError(error: unknown): PostgresFailure {
  const code = (error as { readonly code?: unknown } | null)?.code;
  if (typeof code !== 'string' || code === '') return { kind: 'lost', code: 'CONNECTION' };
  if (!SQLSTATE.test(code) || LOST.test(code)) return { kind: 'lost', code };
  return { kind: REFUSED.test(code) ? 'refused' : 'again', code };
}

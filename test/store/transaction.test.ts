import { describe, expect, it } from '@jest/globals';
import { queryOf } from '../../src/store/postgres/pool.js';
import { judgePostgresError, lockOf } from '../../src/store/postgres/transaction.js';

describe('a failed statement on Postgres', () => {
  const judge = (code: unknown) => judgePostgresError(Object.assign(new Error('of the driver'), { code }));

  it.each(['08006', '57P01', '57P03', '25P03', '25P04', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EBADF'])(
    'with code %s lost its connection: only the database knows the outcome',
    (code) => expect(judge(code)).toEqual({ kind: 'lost', code }),
  );

  it.each(['22P02', '22001', '23505', '42P01', '42501', '0A000', '21000'])(
    'with code %s can never succeed as it is',
    (code) => expect(judge(code)).toEqual({ kind: 'refused', code }),
  );

  it.each(['40001', '40P01', '55P03', '53300', '57014', '25006'])('with code %s may succeed later', (code) =>
    expect(judge(code)).toEqual({ kind: 'again', code }),
  );

  it('without a code lost its connection', () => {
    for (const error of [undefined, null, 'text', new Error('closed'), { code: '' }, { code: 7 }]) {
      expect(judgePostgresError(error)).toEqual({ kind: 'lost', code: 'CONNECTION' });
    }
  });
});

describe('a statement on Postgres', () => {
  it('has its parameters numbered in their order, each time it is used', () => {
    const sql = 'SELECT ? AS a, ? AS b WHERE c = ?';
    for (const params of [
      ['x', 1, null],
      ['y', 2, null],
    ]) {
      expect(queryOf({ sql, params })).toEqual({ text: 'SELECT $1 AS a, $2 AS b WHERE c = $3', values: params });
    }
  });

  it('has a sign for an invalid character in place of each NUL of a text, and bytes as they are', () => {
    const bytes = Uint8Array.of(0, 1);
    expect(queryOf({ sql: '?, ?', params: ['a\0b\0', bytes] }).values).toEqual(['a\uFFFDb\uFFFD', bytes]);
  });
});

describe('the lock of a turn', () => {
  it('is the same in every process and version, and another one for each turn', () => {
    expect(lockOf('meta')).toBe(lockOf('meta'));
    expect(lockOf('meta')).not.toBe(lockOf('epoch'));
    expect(typeof lockOf('meta')).toBe('bigint');
  });
});

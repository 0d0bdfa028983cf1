import { describe, expect, it } from '@jest/globals';
import { queryOf } from '../../src/store/postgres/pool.js';
import { judgePostgresError, lockOf } from '../../src/store/postgres/transaction.js';

describe('judgePostgresError', () => {
  const judge = (code: unknown) => judgePostgresError(Object.assign(new Error('of the driver'), { code }));

  it.each(['08006', '57P01', '57P03', '25P03', '25P04', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EBADF'])(
    'is lost for code %s: only the database knows the outcome',
    (code) => expect(judge(code)).toEqual({ kind: 'lost', code }),
  );

  it.each(['22P02', '22001', '23505', '42P01', '42501', '0A000', '21000', '54000'])('is refused for code %s', (code) =>
    expect(judge(code)).toEqual({ kind: 'refused', code }),
  );

  it.each(['40001', '40P01', '55P03', '53300', '57014', '25006'])('is again for code %s', (code) =>
    expect(judge(code)).toEqual({ kind: 'again', code }),
  );

  it('is lost, with the code CONNECTION, without a code', () => {
    for (const error of [undefined, null, 'text', new Error('closed'), { code: '' }, { code: 7 }]) {
      expect(judgePostgresError(error)).toEqual({ kind: 'lost', code: 'CONNECTION' });
    }
  });
});

describe('queryOf', () => {
  it('numbers the parameters in their order, each time it is used', () => {
    const sql = '?,?,?';
    for (const params of [
      ['x', 1, null],
      ['y', 2, null],
    ]) {
      expect(queryOf({ sql, params })).toEqual({ text: '$1,$2,$3', values: params });
    }
  });

  it('replaces each NUL of a text by U+FFFD, and leaves bytes as they are', () => {
    const bytes = Uint8Array.of(0, 1);
    expect(queryOf({ sql: '?, ?', params: ['a\0b\0', bytes] }).values).toEqual(['a\uFFFDb\uFFFD', bytes]);
  });
});

describe('lockOf a turn', () => {
  it('is the same number in every process, and another one for each turn', () => {
    expect(lockOf('meta')).toBe(lockOf('meta'));
    expect(lockOf('meta')).not.toBe(lockOf('epoch'));
    expect(typeof lockOf('meta')).toBe('bigint');
  });
});

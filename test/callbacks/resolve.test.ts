import { describe, expect, it } from 'vitest';
import type { LookupAddress } from 'node:dns';
import { resolveByDns } from '../../src/callbacks/post.js';

const resolved = (hostname: string) =>
  new Promise<{ readonly code: string | undefined; readonly addresses: readonly LookupAddress[] }>((resolve) =>
    resolveByDns(hostname, (error, addresses) => resolve({ code: error?.code, addresses })),
  );

describe('the names of receivers', () => {
  it.each(['localhost', 'shop.localhost', 'localhost.'])(
    'of this machine, such as %s, need no name server',
    async (name) => {
      expect(await resolved(name)).toEqual({ code: undefined, addresses: [{ address: '127.0.0.1', family: 4 }] });
    },
  );

  it('that lead nowhere have no address', async () => {
    expect(await resolved('nowhere.invalid')).toEqual({ code: 'ENOTFOUND', addresses: [] });
  });
});

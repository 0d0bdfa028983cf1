import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Resolver, type LookupAddress } from 'node:dns';
import { resolveByDns } from '../../src/callbacks/post.js';

const resolved = (hostname: string) =>
  new Promise<{ readonly code: string | undefined; readonly addresses: readonly LookupAddress[] }>((resolve) =>
    resolveByDns(hostname, (error, addresses) => resolve({ code: error?.code, addresses })),
  );

type Answer = (error: Error | null, addresses: readonly string[]) => void;
/** In place of the name servers. An empty list is an error, as Node has it. */
const nameServersSay = (method: 'resolve4' | 'resolve6', addresses: readonly string[]) =>
  jest.spyOn(Resolver.prototype, method).mockImplementation(((_hostname: string, done: Answer) => {
    const error = addresses.length > 0 ? null : Object.assign(new Error('none'), { code: 'ENODATA' });
    // The IPv6 ones come first.
    process.nextTick(() => (method === 'resolve6' ? done(error, addresses) : setImmediate(done, error, addresses)));
  }) as never);

describe('the names of receivers', () => {
  afterEach(() => void jest.restoreAllMocks());

  it.each(['localhost', 'shop.localhost', 'localhost.'])(
    'of this machine, such as %s, need no name server',
    async (name) => {
      expect(await resolved(name)).toEqual({ code: undefined, addresses: [{ address: '127.0.0.1', family: 4 }] });
    },
  );

  it('that lead nowhere have no address', async () => {
    expect(await resolved('nowhere.invalid')).toEqual({ code: 'ENOTFOUND', addresses: [] });
  });

  it.each([
    ['both kinds', ['192.0.2.1', '192.0.2.2'], ['2001:db8::1']],
    ['IPv4 alone', ['192.0.2.1'], []],
    ['IPv6 alone', [], ['2001:db8::1']],
  ])('lead to all their addresses, IPv4 first: %s', async (_what, four, six) => {
    nameServersSay('resolve4', four);
    nameServersSay('resolve6', six);
    expect(await resolved('shop.example')).toEqual({
      code: undefined,
      addresses: [
        ...four.map((address) => ({ address, family: 4 })),
        ...six.map((address) => ({ address, family: 6 })),
      ],
    });
  });
});

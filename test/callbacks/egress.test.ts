import type { LookupAddress } from 'node:dns';
import { isIPv4 } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { assert, constantFrom, nat, property, tuple } from 'fast-check';
import { addressProblem } from '../../src/callbacks/address-policy.js';
import { createCallbackSender, type CallbackSenderOptions, type Resolve } from '../../src/callbacks/index.js';
import { FORBIDDEN, PUBLIC, spellingsOfIPv4, spellingsOfIPv6 } from './addresses.js';
import { startReceiver, type Receiver } from './receiver.js';

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const strict = (more: Partial<CallbackSenderOptions> = {}) =>
  createCallbackSender({ secrets: () => [SECRET], allowLoopback: false, timeoutMs: 2_000, ...more });
const resolvingTo =
  (...addresses: readonly string[]): Resolve =>
  (_, done) =>
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: isIPv4(address) ? 4 : 6 })),
    );
const callback = (url: string) => ({ url, id: 'msg_1', body: '{}' });
const forbidden = Object.values(FORBIDDEN).flat();

/** The result: the name of the error, or the status. */
const tried = (sender: ReturnType<typeof strict>, url: string): Promise<string> =>
  sender.send(callback(url)).then(
    ({ httpStatus }) => String(httpStatus),
    (error: Error) => error.name,
  );

let four: Receiver;
let six: Receiver;
beforeAll(async () => {
  four = await startReceiver('0.0.0.0');
  six = await startReceiver('::');
});
afterAll(async () => {
  await four.close();
  await six.close();
});

describe('fault 43: where callbacks may go', () => {
  it('connects to no forbidden address, however the URL spells it', async () => {
    const hosts = [
      ...forbidden.filter(isIPv4).flatMap(spellingsOfIPv4),
      ...forbidden.filter((address) => !isIPv4(address)).flatMap(spellingsOfIPv6),
      'localhost',
      'LOCALHOST',
      'localhost.',
      'a.localhost',
      'ｌocalhost',
    ];
    const sender = strict();
    expect(hosts.length).toBeGreaterThanOrEqual(200);
    for (const { port } of [four, six]) {
      for (const scheme of ['https', 'http']) {
        const outcomes = await Promise.all(
          hosts.map(async (host) => [host, await tried(sender, `${scheme}://${host}:${port}/hook`)] as const),
        );
        expect(outcomes.filter(([, outcome]) => outcome !== 'CallbackRefusedError')).toEqual([]);
      }
    }
    expect([four.connections(), six.connections()]).toEqual([0, 0]);
  });

  it('refuses those at the start already, without repeating them', () => {
    const sender = strict();
    for (const host of [...forbidden.filter(isIPv4).flatMap(spellingsOfIPv4), 'localhost', 'x.localhost']) {
      const problem = sender.problemOf(`https://${host}/hook`);
      expect([host, problem]).toEqual([host, expect.any(String)]);
      expect(problem).not.toContain(host);
    }
    for (const url of ['http://caller.example/', 'ftp://caller.example/', 'https://a:b@caller.example/', 'caller'])
      expect(sender.problemOf(url)).toEqual(expect.any(String));
    for (const host of ['caller.example', ...PUBLIC.filter(isIPv4)])
      expect(sender.problemOf(`https://${host}/hook?key=1`)).toBeUndefined();
  });

  it('connects to no forbidden address that a name leads to', async () => {
    for (const address of forbidden) {
      const sender = strict({ resolve: resolvingTo(address) });
      expect([address, await tried(sender, `https://caller.example:${four.port}/`)]).toEqual([
        address,
        'CallbackRefusedError',
      ]);
    }
    expect([four.connections(), six.connections()]).toEqual([0, 0]);
  });

  it('judges every address of the forbidden networks, and any that carries one, as forbidden', () => {
    const networks: readonly [string, number][] = [['127.0.0.0', 8], ['10.0.0.0', 8], ['172.16.0.0', 12], ['192.168.0.0', 16], ['169.254.0.0', 16], ['100.64.0.0', 10], ['224.0.0.0', 4], ['240.0.0.0', 4], ['0.0.0.0', 8]]; // prettier-ignore
    const inNetwork = tuple(constantFrom(...networks), nat(0xffffffff)).map(([[network, bits], random]) =>
      within(network, bits, random),
    );
    assert(
      property(inNetwork, (octets) => {
        const dotted = octets.join('.');
        const [high, low] = [hexOf(octets[0], octets[1]), hexOf(octets[2], octets[3])];
        const carriers = [`::ffff:${dotted}`, `::ffff:${high}:${low}`, `64:ff9b::${high}:${low}`, `2002:${high}:${low}::1`, `::${high}:${low}`]; // prettier-ignore
        for (const address of [dotted, ...carriers]) {
          expect([address, addressProblem(address, 'https:', { allowLoopback: false })]).toEqual([
            address,
            expect.any(String),
          ]);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('lets public addresses pass, by https alone', () => {
    for (const address of PUBLIC) {
      expect([address, addressProblem(address, 'https:', { allowLoopback: false })]).toEqual([address, undefined]);
      expect(addressProblem(address, 'http:', { allowLoopback: true })).toBe('needs https');
    }
  });

  it('is not fooled by a name that leads elsewhere the second time: it connects to the address that was checked', async () => {
    const caller = await startReceiver();
    let asked = 0;
    const rebinding: Resolve = (_, done) => {
      asked += 1;
      done(null, [{ address: asked % 2 === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }]);
    };
    // Here the first answer is allowed, and leads to a server without TLS.
    const sender = strict({ resolve: rebinding, allowLoopback: true });
    const outcomes: string[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      outcomes.push(await tried(sender, `https://rebinding.example:${caller.port}/`));
    }
    expect(outcomes.filter((_, turn) => turn % 2 === 0)).toEqual(Array(2).fill('CallbackUnreachableError'));
    expect(outcomes.filter((_, turn) => turn % 2 === 1)).toEqual(Array(2).fill('CallbackRefusedError'));
    // A name is resolved once for each connection, and never again between the check and the connection.
    expect([asked, caller.connections()]).toEqual([4, 2]);
    await caller.close();
  });

  it('connects only to the allowed ones of several addresses', async () => {
    const mixed = strict({ resolve: resolvingTo('10.0.0.1', '::', '127.0.0.1'), allowLoopback: true });
    const caller = await startReceiver();
    expect(await tried(mixed, `https://caller.example:${caller.port}/`)).toBe('CallbackUnreachableError');
    expect(caller.connections()).toBe(1);
    const none = strict({ resolve: resolvingTo('127.0.0.1', '::1', '10.0.0.1') });
    expect(await tried(none, `https://caller.example:${four.port}/`)).toBe('CallbackRefusedError');
    expect(four.connections()).toBe(0);
    await caller.close();
  });

  it('does not follow a redirect, not even if loopback is allowed', async () => {
    const from = await startReceiver();
    const to = await startReceiver();
    for (const status of [301, 302, 303, 307, 308]) {
      from.answer = () => ({ status, headers: { location: `${to.url}/inside` } });
      const sender = strict({ allowLoopback: true });
      expect(await tried(sender, `${from.url}/hook`)).toBe(String(status));
    }
    expect([from.received.length, to.connections()]).toEqual([5, 0]);
    await from.close();
    await to.close();
  });

  it('asks no proxy of the environment', async () => {
    const proxy = await startReceiver();
    const caller = await startReceiver();
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = proxy.url;
    try {
      expect(await tried(strict({ allowLoopback: true }), `${caller.url}/`)).toBe('204');
    } finally {
      names.forEach((name, index) => {
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
      });
    }
    expect([proxy.connections(), caller.received.length]).toEqual([0, 1]);
    await proxy.close();
    await caller.close();
  });
});

function within(network: string, bits: number, random: number): [number, number, number, number] {
  const base = network.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  const host = random % 2 ** (32 - bits);
  const number = base + host;
  return [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255].map((octet) => octet & 255) as [
    number,
    number,
    number,
    number,
  ];
}

const hexOf = (high: number, low: number): string => (high * 256 + low).toString(16);

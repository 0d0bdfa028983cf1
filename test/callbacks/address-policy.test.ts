import { describe, expect, it } from '@jest/globals';
import { addressProblem, callbackUrlProblem, type EgressPolicy } from '../../src/callbacks/address-policy.js';

const STRICT: EgressPolicy = { allowLoopback: false };
const LOOPBACK: EgressPolicy = { allowLoopback: true };
const PRIVATE: EgressPolicy = { allowLoopback: false, allowPrivate: true };
const https = (address: string, policy = STRICT) => addressProblem(address, 'https:', policy);

describe('the address of a receiver of callbacks:', () => {
  it.each(['', 'shop.example', '10.1', '010.0.0.1', '1.2.3.4.5', 'fe80::1%eth0', '::1%1', ':::1', '12345::'])(
    '%j is refused, since it is no address',
    (text) => {
      expect(https(text)).toBe('is no address');
    },
  );

  it.each(['127.0.0.1', '127.8.9.1', '::1', '[::1]', '::ffff:127.0.0.1', '64:ff9b::7f00:1'])(
    '%s is refused as this machine, unless a setting allows it, also over http',
    (address) => {
      expect(https(address)).toBe('is on this machine (CALLBACK_ALLOW_LOOPBACK)');
      expect(https(address, PRIVATE)).toContain('CALLBACK_ALLOW_LOOPBACK');
      for (const protocol of ['https:', 'http:']) expect(addressProblem(address, protocol, LOOPBACK)).toBeUndefined();
    },
  );

  it.each([
    ['10.0.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['fd00::1', 'uniqueLocal'],
    ['[fd00::1]', 'uniqueLocal'],
    ['100.64.0.1', 'carrierGradeNat'],
    ['::ffff:10.0.0.1', 'private'],
    ['64:ff9b::a00:1', 'private'],
  ])('%s is refused as private (%s), unless a setting allows it, over https', (address, range) => {
    expect(https(address)).toBe(`is not a public address (${range})`);
    expect(https(address, LOOPBACK)).toContain(range);
    expect(https(address, PRIVATE)).toBeUndefined();
    expect(addressProblem(address, 'http:', PRIVATE)).toBe('needs https');
  });

  it.each([
    ['169.254.169.254', 'linkLocal'],
    ['fe80::1', 'linkLocal'],
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['2002:7f00:1::', '6to4'],
    ['::7f00:1', 'reserved'],
    ['4000::1', 'reserved'],
    ['64:ff9b:1::7f00:1', 'reserved'],
    ['64:ff9b:1:a9fe:a9:fe00::', 'reserved'],
    ['168.63.129.16', 'linkLocal'],
    ['::ffff:168.63.129.16', 'linkLocal'],
    ['64:ff9b::168.63.129.16', 'linkLocal'],
    ['2001:db9::5efe:7f00:1', 'reserved'],
    ['2606:4700::200:5efe:10.0.0.1', 'reserved'],
  ])('%s (%s) is allowed by no setting', (address, range) => {
    for (const policy of [STRICT, LOOPBACK, PRIVATE]) {
      expect(https(address, policy)).toContain(range);
    }
  });

  it.each(['1.1.1.1', '2606:4700:4700::1111', '[2606:4700:4700::1111]', '::ffff:8.8.8.8', '64:ff9b::808:808'])(
    '%s may be reached, by https alone',
    (address) => {
      for (const policy of [STRICT, LOOPBACK, PRIVATE]) {
        expect(https(address, policy)).toBeUndefined();
        expect(addressProblem(address, 'http:', policy)).toBe('needs https');
      }
    },
  );
});

describe('a callback URL:', () => {
  const onMachine = 'leads to an address that is on this machine (CALLBACK_ALLOW_LOOPBACK)';
  it.each([
    ['', 'is not a URL'],
    ['shop.example/hook', 'is not a URL'],
    ['ftp://shop.example/', 'must begin with https'],
    ['file:///etc/passwd', 'must begin with https'],
    ['http://shop.example/', 'must begin with https'],
    ['https://ada@shop.example/', 'must not carry a user or password'],
    ['https://:secret@shop.example/', 'must not carry a user or password'],
    ['https://ada:secret@shop.example/', 'must not carry a user or password'],
    ['https://10.0.0.1/', 'leads to an address that is not a public address (private)'],
    ['https://[fd00::1]:8443/', 'leads to an address that is not a public address (uniqueLocal)'],
    ['https://[::1]/', onMachine],
    ['https://localhost/', onMachine],
    ['https://shop.localhost./', onMachine],
    ['http://1.1.1.1/', 'leads to an address that needs https'],
  ])('%j is refused', (url, problem) => {
    expect(callbackUrlProblem(url, STRICT)).toBe(problem);
  });

  it.each([
    'https://shop.example/hook?key=1',
    'https://1.1.1.1/',
    'https://notlocalhost/',
    'https://localhost.example/',
  ])('%s is allowed', (url) => {
    expect(callbackUrlProblem(url, STRICT)).toBeUndefined();
  });

  it('one of this machine is allowed by a setting, by its names and its addresses, also over http', () => {
    for (const host of ['localhost', 'a.localhost', '127.0.0.1', '[::1]', 'localhost.']) {
      for (const scheme of ['http', 'https']) {
        expect([host, callbackUrlProblem(`${scheme}://${host}:9/hook`, LOOPBACK)]).toEqual([host, undefined]);
      }
    }
    expect(callbackUrlProblem('http://shop.example/', LOOPBACK)).toContain('https');
  });
});

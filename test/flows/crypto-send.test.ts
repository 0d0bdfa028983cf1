import { expect, test } from '@jest/globals';
import { cryptoSendFlow } from '../../src/flows/crypto-send.js';
import cryptoSend from '../kinds/crypto-send.js';

// The rest is in looked-up.test.ts.
test.each([
  ['token', { token: 'DOGE' }],
  ['cryptoAmount', { cryptoAmount: '-1' }],
])('a crypto send is refused for its %s, by name', (member, wrong) => {
  const problems = cryptoSendFlow.input.safeParse({ ...cryptoSend.input('r-1'), ...wrong }).error?.issues ?? [];
  expect(problems.map(({ path }) => path)).toEqual([[member]]);
});

import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { headerValues } from '../../src/gateway/http/json-body.js';

describe('the values of a header', () => {
  it('are all that came under its name, however it is spelled, in their order', () => {
    const raw = ['Webhook-Id', 'a', 'host', 'b', 'WEBHOOK-ID', 'c', 'webhook-id2', 'd', 'webhook-id', ''];
    expect(headerValues(raw, 'webhook-id')).toEqual(['a', 'c', '']);
    expect(headerValues(raw, 'webhook')).toEqual([]);
    expect(headerValues([], 'host')).toEqual([]);
  });

  it('are never taken for names', () => {
    const name = fc.constantFrom('a', 'A', 'b', 'ab');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, name)), (pairs) => {
        const expected = pairs.filter(([found]) => found.toLowerCase() === 'a').map(([, value]) => value);
        expect(headerValues(pairs.flat(), 'a')).toEqual(expected);
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { bytesWithoutOwnCallbacks, withoutOwnCallbacks } from '../../src/gateway/flows/address.js';
import { newReference } from '../harness/references.js';
import { gatewayUnderTest } from './setup/gateway-under-test.js';

describe('a callback URL of ours inside a link of the service', () => {
  const CAPABILITY = 'c0ffee'.repeat(8).slice(0, 43);
  const OURS = `https://gw.example:8443/base/callbacks/bridge-transfer/order:1/${CAPABILITY}`;
  const THEIRS = 'https://shop.example/hook?order=1&to=$&';
  const WORD = '(callback)';
  const once = encodeURIComponent;
  const twice = (url: string): string => once(once(url));
  const inQuery = (url: string): string => `https://pay.example/c?id=7&cb=${url}&lang=en`;
  const inPath = (url: string): string => `https://pay.example/go/${url}`;
  const inLower = (url: string): string => once(url).replaceAll(/%\w\w/g, (escape) => escape.toLowerCase());
  /** The link as the service writes it around a URL, and around the caller's. */
  type Write = (url: string) => string;
  const FORMS: readonly [form: string, write: Write, rewritten?: Write][] = [
    ['percent-encoded', (url) => inQuery(once(url))],
    ['percent-encoded twice', (url) => inQuery(twice(url))],
    ['in lower case', (url) => inQuery(inLower(url)), (url) => inQuery(once(url))],
    ['with plain slashes', (url) => inQuery(once(url).replaceAll('%2F', '/')), (url) => inQuery(once(url))],
    ['with plain colons', (url) => inQuery(once(url).replaceAll('%3A', ':')), (url) => inQuery(once(url))],
    ['as it is', inQuery],
    ['as it is, in a path', inPath],
    ['in a path', (url) => inPath(once(url))],
    ['behind a fragment', (url) => `https://pay.example/c#cb=${once(url)}`],
    ['in a link that is in a link', (url) => inQuery(once(inQuery(once(url))))],
    ['in a link that is encoded and is not in one', (url) => once(inPath(once(url)))],
  ];

  it.each(FORMS)(
    "becomes the caller's or a word, and leaves the link as it was: %s",
    (_form, write, rewritten = write) => {
      const said = (url: string, written: Write = write) => ({
        redirect_url: written(url),
        in: [`go to ${written(url)} now`],
      });
      expect(withoutOwnCallbacks(said(OURS))).toEqual(said(WORD));
      expect(withoutOwnCallbacks(said(OURS), THEIRS)).toEqual(said(THEIRS, rewritten));
      const bytes = (content: object) => Buffer.from(JSON.stringify(content));
      expect(bytesWithoutOwnCallbacks(bytes(said(OURS)))).toEqual(bytes(said(WORD)));
      expect(bytesWithoutOwnCallbacks(bytes(said(OURS)), THEIRS)).toEqual(bytes(said(THEIRS, rewritten)));
    },
  );

  it('is as before when it is all of a member: the caller has it as it gave it, and others have no such member', () => {
    for (const url of [OURS, once(OURS)]) {
      expect(withoutOwnCallbacks({ callback_url: url, n: 1 })).toEqual({ n: 1 });
      expect(withoutOwnCallbacks({ callback_url: url, n: 1 }, THEIRS)).toEqual({ callback_url: THEIRS, n: 1 });
    }
  });

  it("leaves the customer's link in the answers of a flow", async () => {
    const tested = await gatewayUnderTest({ temporalAddress: '127.0.0.1:1' });
    const reference = newReference();
    const flowId = `bridge-transfer/${reference}`;
    const claim = { account: 'default', operation: 'createBridgeDeposit', reference };
    await tested.store.claims.reserve(claim, { owner: 'test', flowId, fingerprint: 'of the test' });
    const ours = `https://gw.example${tested.callbackPath(reference)}`;
    await tested.store.claims.recordAnswer(claim, {
      redirect_url: inQuery(once(ours)),
      again: inQuery(twice(twice(ours))),
    });
    const { body } = await tested.get(`/flows/${flowId}/answers`);
    await tested.close();
    const { data } = (body['answers'] as { data: Record<string, string> }[])[0] ?? { data: {} };
    expect(data['redirect_url']).toBe(inQuery(WORD));
    expect(data['again']).toMatch(/^https:\/\/pay\.example\/c\?id=7&cb=[^&]*&lang=en$/);
    expect(JSON.stringify(body)).not.toContain(ours.slice(ours.lastIndexOf('/') + 1));
  });
});

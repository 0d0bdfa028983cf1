import { beforeEach, describe, expect, it } from '@jest/globals';
import { run } from './run.js';
import { startScriptedGateway } from './scripted-gateway.js';

const PAGE = 500;
const gateway = await startScriptedGateway();
const env = { GATEWAY_URL: gateway.url, TOWLINE_TOKEN: 'a-token-of-ours' };

/** Entries after this one, up to the end of the log. */
const pageAfter = (after: number, end: number) => {
  const entries = Array.from({ length: Math.min(PAGE, end - after) }, (_, index) => ({ seq: after + index + 1 }));
  const last = after + entries.length;
  return { status: 200, body: { entries, next: last < end ? last : null } };
};
const busy = { status: 429, body: { success: false, message: 'Too many requests: at most 4 a second.' } };
const seqs = (out: string) => out.split('\n').map((line) => (JSON.parse(line) as { seq: number }).seq);

describe('towline audit export', () => {
  let before: number;
  beforeEach(() => {
    before = gateway.requests.length;
  });
  const asked = () =>
    gateway.requests.slice(before).map(({ url }) => new URL(url, gateway.url).searchParams.get('after'));

  it('prints every entry of a log of more than 5,000, though the gateway refuses some pages for its rate', async () => {
    const end = 6_200;
    const pages = Array.from({ length: Math.ceil(end / PAGE) }, (_, index) => pageAfter(index * PAGE, end));
    gateway.first(...pages.slice(0, 3), busy, busy, ...pages.slice(3, 9), busy, ...pages.slice(9));
    const { code, out, err } = await run(['audit', 'export'], env);
    expect(code).toBe(0);
    expect(seqs(out)).toEqual(Array.from({ length: end }, (_, index) => index + 1));
    // Progress.
    expect(err).toContain('5000');
  });

  it('says after which entry it broke off, and goes on from there', async () => {
    gateway.first(pageAfter(0, 900), { status: 500, body: { success: false, message: 'broken' } });
    const broken = await run(['audit', 'export'], env);
    expect(broken.code).not.toBe(0);
    expect(broken.err).toContain('--after 500');
    expect(seqs(broken.out)).toHaveLength(500);
    gateway.first(pageAfter(500, 900));
    const rest = await run(['audit', 'export', '--after', '500'], env);
    expect(rest.code).toBe(0);
    expect(seqs(rest.out)).toEqual(Array.from({ length: 400 }, (_, index) => index + 501));
    expect(asked()).toEqual([null, '500', '500']);
  });
});

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { findBrowser, openBrowser, type Browser } from '../harness/browser.js';
import { parkOneOf, signIn } from '../harness/console.js';
import { openStack, type StackWithGateway } from '../harness/stack.js';

const OPERATOR = 'operator-secret-0123456789';
const executable = findBrowser('whether everybody can use the console');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const SCHEMES = ['light', 'dark'] as const;
const SIZES = { desk: { width: 1_200, height: 900 }, phone: { width: 390, height: 844 } } as const;
const LOOKS = SCHEMES.flatMap((colorScheme) => Object.entries(SIZES).map(([size, viewport]) => ({ colorScheme, size, viewport }))); // prettier-ignore

(executable === undefined ? describe.skip : describe)('the console by the rules of axe, in Chromium', () => {
  let stack: StackWithGateway;
  let browser: Browser;
  let context: BrowserContext;
  let flowId: string;
  beforeAll(async () => {
    const tokens = `dev:admin:dev-token,ann:operator+approver+auditor:${OPERATOR}`;
    stack = await openStack({ gateway: { env: { GATEWAY_TOKENS: tokens, FOUR_EYES: 'accept-event' } } });
    flowId = await parkOneOf(stack);
    browser = await openBrowser(executable as string);
    context = browser.context;
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.close();
  });

  /** What axe finds at the page as it stands, and whether it scrolls sideways. */
  async function faultsOf(page: Page, where: string): Promise<readonly string[]> {
    // Not as a script of the page, which its content security policy refuses.
    await page.evaluate(AXE);
    const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
    const isWide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
    return [
      ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${where}: ${id}: ${html.slice(0, 200)}`)),
      ...(isWide === true ? [`${where}: it scrolls sideways`] : []),
    ];
  }

  test.each(LOOKS)('has no fault on any page: $colorScheme, $size', async ({ colorScheme, viewport }) => {
    const faults: string[] = [];
    const signingIn = await context.newPage();
    await signingIn.setViewportSize(viewport);
    await signingIn.emulateMedia({ colorScheme });
    await signingIn.goto(`${stack.gateway.url}/console`);
    await signingIn.getByLabel('Token').waitFor();
    faults.push(...(await faultsOf(signingIn, 'sign in')));
    await signingIn.close();

    const { page, problems } = await signIn(context, stack.gateway.url, OPERATOR);
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const links = await page.getByRole('navigation').getByRole('link').allTextContents();
    expect(links.length).toBeGreaterThanOrEqual(5);
    for (const name of links) {
      await page.getByRole('navigation').getByRole('link', { name, exact: true }).click();
      await page.getByRole('main').getByRole('heading').first().waitFor();
      await page.getByText('Loading').waitFor({ state: 'detached' });
      faults.push(...(await faultsOf(page, name)));
    }
    await page.goto(`${stack.gateway.url}/console#/flow/${flowId}`);
    await page.getByRole('heading', { name: 'Parked: event_mismatch' }).waitFor();
    faults.push(...(await faultsOf(page, 'a parked flow')));
    await page.getByRole('radio', { name: /dismiss-event/ }).check();
    await page.getByLabel('Note').fill('seen');
    await page.getByRole('button', { name: 'Carry out' }).click();
    await page.getByRole('dialog').waitFor();
    faults.push(...(await faultsOf(page, 'a dialog')));
    expect(faults).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('would be found faulty by an image without words, grey letters and a line that is too long', async () => {
    const { page } = await signIn(context, stack.gateway.url, OPERATOR);
    await page.evaluate(`document.querySelector('main').insertAdjacentHTML('beforeend', '<img src="data:,"><p id="grey">grey</p>');
      document.getElementById('grey').style.color = '#bbb'; document.getElementById('grey').style.width = '3000px'`);
    const kinds = (await faultsOf(page, 'planted')).map((fault) => fault.split(': ')[1]);
    expect(kinds).toEqual(expect.arrayContaining(['image-alt', 'color-contrast', 'it scrolls sideways']));
    await page.close();
  });
});

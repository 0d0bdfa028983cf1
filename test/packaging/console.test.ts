import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { findBrowser, openBrowser, type Browser } from '../harness/browser.js';
import { openStack, type StackWithGateway } from '../harness/stack.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';

const SHOTS = process.env['CONSOLE_SHOTS'];
const OPERATOR = 'operator-secret-0123456789';
const VIEWER = 'viewer-secret-0123456789ab';
const executable = findBrowser('the console');

(executable === undefined ? describe.skip : describe)('the console, in Chromium', () => {
  let stack: StackWithGateway;
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    stack = await openStack({
      gateway: { env: { GATEWAY_TOKENS: `dev:admin:dev-token,ann:operator:${OPERATOR},vic:viewer:${VIEWER}` } },
    });
    browser = await openBrowser(executable as string);
    context = browser.context;
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.close();
  });

  /** A transfer whose provider reports another amount than was ordered: it parks, and a person decides. */
  async function parkOne(): Promise<string> {
    const reference = newReference('console');
    await stack.control('POST', '/scenarios', { reference, ending: 'mismatching-amount' });
    await stack.gateway.post('/flows/bridge-transfer', transferInput(reference, { timeScale: 0.02 }));
    const path = `/flows/bridge-transfer/${reference}`;
    await until('it to park', async () => (await stack.gateway.get(path)).body['state'] === 'parked');
    await until('it to be listed as parked', async () => {
      const { body } = await stack.gateway.get(`/flows?state=parked&reference=${reference}`);
      return (body['flows'] as unknown[]).length === 1;
    });
    return `bridge-transfer/${reference}`;
  }

  async function open(token: string): Promise<{ page: Page; problems: string[] }> {
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(`${stack.gateway.url}/console`);
    await page.getByLabel('Token').waitFor();
    await page.keyboard.type(token);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Parked flows' }).waitFor();
    return { page, problems };
  }

  /** Presses Tab until this has the focus. */
  async function tabTo(page: Page, target: Locator): Promise<void> {
    await target.waitFor();
    for (let presses = 0; presses < 100; presses += 1) {
      if (await hasFocus(target)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error('the keyboard does not reach it');
  }

  test('a parked flow is found and resolved with the keyboard alone', async () => {
    const flowId = await parkOne();
    const { page, problems } = await open(OPERATOR);
    await shoot(page, 'console-parked');
    await tabTo(page, page.getByRole('link', { name: flowId }));
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Parked: event_mismatch' }).waitFor();
    expect(await page.getByText('Check first: the event is of something else.').count()).toBe(1);
    await shoot(page, 'console-flow');
    // A group of radio buttons is one stop; a space chooses the first one, the arrows another.
    await tabTo(page, page.getByRole('radio').first());
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('radio', { name: /dismiss-event/ }).isChecked()).toBe(true);
    await tabTo(page, page.getByLabel('Note'));
    await page.keyboard.type('the provider mixed two transfers up');
    await tabTo(page, page.getByRole('button', { name: 'Carry out' }));
    await page.keyboard.press('Enter');

    const yes = page.getByRole('button', { name: 'Yes, dismiss-event' });
    await yes.waitFor();
    // Enter alone would cancel: the confirmation starts at "No".
    expect(await hasFocus(page.getByRole('button', { name: 'No, go back' }))).toBe(true);
    await tabTo(page, yes);
    await page.keyboard.press('Enter');
    await page.getByText('The order is accepted.').waitFor();

    const { body } = await stack.gateway.get(`/flows/${flowId}`);
    const orders = (body['timeline'] as { by: string; detail: string }[]).filter(({ by }) => by === 'ann');
    expect(orders.map(({ detail }) => detail)).toEqual([
      expect.stringContaining('the provider mixed two transfers up'),
    ]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('who may only view is offered no order, and sees the same', async () => {
    const flowId = await parkOne();
    const { page, problems } = await open(VIEWER);
    await page.goto(`${stack.gateway.url}/console#/flow/${flowId}`);
    await page.getByText('Deciding it needs the role operator.').waitFor();
    expect(await page.getByRole('radio').count()).toBe(0);
    for (const [name, heading] of [
      ['Flows', 'Flows'],
      ['Events', 'Events'],
      ['Callbacks', 'Callbacks'],
    ] as const) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
    }
    expect(problems).toEqual([]);
    await page.close();
  });

  test('a list that takes its time is not asked for again before it is there', async () => {
    const page = await context.newPage();
    await page.clock.install();
    let asked = 0;
    let answer = () => undefined as void;
    const mayBeAnswered = new Promise<void>((resolve) => (answer = resolve));
    await page.route(/\/flows\?/, async (route) => {
      asked += 1;
      await mayBeAnswered;
      await route.fulfill({ json: { flows: [], next: null } });
    });
    await page.goto(`${stack.gateway.url}/console`);
    await page.getByLabel('Token').fill(VIEWER);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Loading').waitFor();
    await page.clock.runFor(12_000);
    answer();
    await page.getByText('No flow is parked.').waitFor();
    expect(asked).toBe(1);
    await page.clock.runFor(5_000);
    await until('it to be asked for again', () => asked === 2);
    await page.close();
  });

  test('a wrong token is refused, with what to do', async () => {
    const page = await context.newPage();
    await page.goto(`${stack.gateway.url}/console`);
    await page.getByLabel('Token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toMatch(/token/i);
    await page.close();
  });

  test('a note is shown as text, and runs nothing', async () => {
    const flowId = await parkOne();
    const note = '<img src=x onerror=alert(1)>';
    await stack.gateway.post(`/flows/${flowId}/resolve`, { action: 'dismiss-event', note });
    const { page, problems } = await open(VIEWER);
    let hasRun = false;
    page.on('dialog', (dialog) => {
      hasRun = true;
      void dialog.dismiss();
    });
    await page.goto(`${stack.gateway.url}/console#/flow/${flowId}`);
    await page.getByText(note).first().waitFor();
    expect([hasRun, await page.locator('img').count(), problems]).toEqual([false, 0, []]);
    await page.close();
  });
});

const hasFocus = (target: Locator): Promise<boolean> => target.evaluate((element) => element.matches(':focus'));

/** The pictures of the docs: `CONSOLE_SHOTS=docs/images npm run packaging -- test/packaging/console.test.ts`. */
async function shoot(page: Page, name: string): Promise<void> {
  if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
}

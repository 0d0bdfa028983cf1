import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { createCallbackSender } from '../../src/callbacks/index.js';
import { noticeOf } from '../../src/notify/index.js';
import type { CallbackListJson } from '../../src/sdk/index.js';
import { startReceiver } from '../callbacks/receiver.js';
import { findBrowser, openBrowser, shoot, type Browser } from '../harness/browser.js';
import { parkOneOf, signIn } from '../harness/console.js';
import { openStack, type StackWithGateway } from '../harness/stack.js';
import { transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';

const OPERATOR = 'operator-secret-0123456789';
const SECOND = 'second-secret-0123456789ab';
const VIEWER = 'viewer-secret-0123456789ab';
const TOKENS = `dev:admin:dev-token,ann:operator+approver:${OPERATOR},ben:operator+approver:${SECOND},vic:viewer:${VIEWER}`;
const CALLBACK_SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const UI_URL = 'http://127.0.0.1:8080';
const executable = findBrowser('the console');

(executable === undefined ? describe.skip : describe)('the console, in Chromium', () => {
  let stack: StackWithGateway;
  let browser: Browser;
  let context: BrowserContext;
  /** Every request of every page of this file, without its query: `GET http://…`. */
  const requested = new Set<string>();

  beforeAll(async () => {
    const fourEyes = { FOUR_EYES: 'accept-event', FOUR_EYES_ABOVE: 'KES:5000' };
    const callbacks = createCallbackSender({ secrets: () => [CALLBACK_SECRET], allowLoopback: true });
    stack = await openStack({
      gateway: { env: { GATEWAY_TOKENS: TOKENS, ...fourEyes, TEMPORAL_UI_URL: UI_URL } },
      deps: { callbacks },
    });
    browser = await openBrowser(executable as string);
    context = browser.context;
    context.on('request', (request) => requested.add(`${request.method()} ${request.url().replace(/[?#].*/, '')}`));
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.close();
  });

  const parkOne = (amount?: string) => parkOneOf(stack, amount);
  const open = (token: string) => signIn(context, stack.gateway.url, token);

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
    const note = 'the provider mixed two transfers up';
    await page.keyboard.type(note);
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
    const orders = (body['timeline'] as { by: string; code: string; detail: string }[]).filter(
      ({ by }) => by === 'ann',
    );
    expect(orders).toEqual([expect.objectContaining({ code: 'order-taken', detail: expect.stringContaining(note) })]);
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

  test('parked flows are listed with the oldest first, or with the dearest first', async () => {
    const amounts = ['1100.50', '1300.50', '1200.50'];
    const flows: string[] = [];
    for (const amount of amounts) flows.push(await parkOne(amount));
    const { page, problems } = await open(VIEWER);
    // Other tests leave parked flows behind.
    const shown = async () =>
      (await page.locator('tbody th').allTextContents()).filter((flowId) => flows.includes(flowId));
    await until('all to be shown', async () => (await shown()).length === flows.length);
    expect(await shown()).toEqual(flows);
    await page.getByLabel('Order').selectOption('largest first, by currency');
    await until('the order to change', async () => (await shown())[0] !== flows[0]);
    expect(await shown()).toEqual([flows[1], flows[2], flows[0]]);
    expect(problems).toEqual([]);
    await page.close();
  });

  test('an open flow page shows each change of the flow by itself, and links to its history in the Temporal UI', async () => {
    const flowId = await parkOne();
    const { page, problems } = await open(VIEWER);
    await page.goto(`${stack.gateway.url}/console#/flow/${flowId}`);
    await page.getByRole('heading', { name: 'Parked: event_mismatch' }).waitFor();
    const link = page.getByRole('link', { name: 'in the Temporal UI' });
    expect(await link.getAttribute('href')).toBe(
      `${UI_URL}/namespaces/default/workflows/${encodeURIComponent(flowId)}`,
    );
    const answer = await stack.gateway.post(`/flows/${flowId}/resolve`, { action: 'dismiss-event', note: 'not ours' });
    expect(answer.status).toBe(200);
    await page.getByText('not ours').first().waitFor();
    await page.getByRole('heading', { name: 'Parked: event_mismatch' }).waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.close();
  });

  test('an order that needs two persons is proposed by the first, shown to the second, and carried out by them', async () => {
    const flowId = await parkOne();
    const order = async (token: string, note: string, named?: string) => {
      const { page, problems } = await open(token);
      await page.goto(`${stack.gateway.url}/console#/flow/${flowId}`);
      await page.getByRole('radio', { name: /accept-event/ }).check();
      // The second person sees the event that the first one named, and orders the same.
      if (named !== undefined) await page.getByLabel('The event that is meant').fill(named);
      await page.getByLabel('Note').fill(note);
      await shoot(page, named === undefined ? 'console-second' : 'console-first');
      await page.getByRole('button', { name: 'Carry out' }).click();
      await page.getByRole('button', { name: 'Yes, accept-event' }).click();
      return { page, problems };
    };
    const eventId = eventIn((await stack.gateway.get(`/flows/${flowId}`)).body['parked']);
    const first = await order(OPERATOR, 'it is the same transfer', eventId);
    await first.page.getByText('Proposed, not carried out: a second person has to confirm it.').waitFor();
    await first.page.getByText(`ann proposed accept-event ${eventId}: “it is the same transfer”`).waitFor();
    expect((await stack.gateway.get(`/flows/${flowId}`)).body).toMatchObject({
      state: 'parked',
      proposal: { action: 'accept-event', eventId, by: 'ann' },
    });
    expect(first.problems).toEqual([]);
    await first.page.close();

    const second = await open(SECOND);
    await second.page.getByRole('link', { name: 'Second person', exact: true }).click();
    await second.page.getByRole('link', { name: flowId }).click();
    await second.page.getByRole('button', { name: 'Confirm: accept-event' }).click();
    await second.page.getByRole('dialog').getByLabel('Note').fill('I asked the provider, too');
    await second.page.getByRole('button', { name: 'Yes, accept-event' }).click();
    await second.page.getByText('The order is accepted.').waitFor();
    const { body } = await stack.gateway.get(`/flows/${flowId}`);
    expect(body['proposal'] ?? null).toBeNull();
    const timeline = body['timeline'] as { by: string }[];
    expect(timeline.map(({ by }) => by).filter((by) => by.includes('ann') || by.includes('ben'))).toEqual([
      'ann and ben',
    ]);
    expect(second.problems).toEqual([]);
    await second.page.close();
  });

  test('a proposal that comes while the dialog is open changes nothing of what the second person ordered', async () => {
    const flowId = await parkOne();
    const { page } = await open(SECOND);
    await page.goto(`${stack.gateway.url}/console#/flow/${flowId}`);
    await page.getByRole('radio', { name: /accept-event/ }).check();
    await page.getByLabel('Note').fill('I mean the only one');
    await page.getByRole('button', { name: 'Carry out' }).click();
    const yes = page.getByRole('button', { name: 'Yes, accept-event' });
    await yes.waitFor();
    const show = async () => (await stack.gateway.get(`/flows/${flowId}`)).body;
    const eventId = eventIn((await show())['parked']);
    const order = { action: 'accept-event', note: 'that one', eventId };
    const asAnn = { authorization: `Bearer ${OPERATOR}` };
    expect((await stack.gateway.post(`/flows/${flowId}/resolve`, order, asAnn)).status).toBe(202);
    await page.getByText(`ann proposed accept-event ${eventId}`).waitFor();
    await yes.click();
    await page.getByText('ann proposed it with these details').waitFor();
    expect(await show()).toMatchObject({ state: 'parked', proposal: { by: 'ann', confirmedBy: null } });
    await page.close();
  });

  test('the approval of a large quote, reached by the link of a notification, is proposed, withdrawn, and given by two', async () => {
    const reference = `${newReference('console')}:large`;
    const flowId = `bridge-transfer/${reference}`;
    const input = transferInput(reference, { amount: '5000.01', approval: 'required' });
    expect((await stack.gateway.post('/flows/bridge-transfer', input)).status).toBe(201);
    const show = async () => (await stack.gateway.get(`/flows/${flowId}`)).body;
    await until('its quote to wait', async () => (await show())['stage'] === 'awaiting-approval');
    const matter = { id: 'm', content: { kind: 'parked', flowId, since: 'now' } } as const;
    const places = { gatewayUrl: stack.gateway.url, namespace: 'default' };
    const { links } = noticeOf(matter, { event: 'opened', level: 0 }, places);
    const openFlow = async (token: string) => {
      const opened = await open(token);
      await opened.page.goto(links.console ?? '');
      return opened;
    };
    const order = async (page: Page, button: string, note: string, yes: string) => {
      await page.getByRole('button', { name: button }).click();
      await page.getByLabel('Note: why').fill(note);
      await page.getByRole('button', { name: yes }).click();
    };
    const first = await openFlow(OPERATOR);
    await order(first.page, 'Approve the quote', 'the rate is fine', 'Yes, approve-quote');
    await first.page.getByText('Proposed, not carried out: a second person has to confirm it.').waitFor();
    await first.page.getByText('ann proposed approve-quote: “the rate is fine”').waitFor();
    expect(await show()).toMatchObject({ stage: 'awaiting-approval', proposal: { by: 'ann' } });
    await order(first.page, 'Withdraw the proposal', 'the rate fell', 'Yes, withdraw');
    await first.page.getByText('The proposal is withdrawn.').waitFor();
    await first.page.getByText('ann proposed').waitFor({ state: 'detached' });
    expect(await show()).toMatchObject({ stage: 'awaiting-approval', proposal: null });
    await order(first.page, 'Approve the quote', 'it rose', 'Yes, approve-quote');
    await first.page.getByText('ann proposed approve-quote: “it rose”').waitFor();

    const viewer = await openFlow(VIEWER);
    await viewer.page.getByText('ann proposed approve-quote: “it rose”').waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Withdraw the proposal' }).count()).toBe(0);
    const second = await openFlow(SECOND);
    await second.page.getByText('ann proposed approve-quote: “it rose”').waitFor();
    await order(second.page, 'Approve the quote', 'I agree', 'Yes, approve-quote');
    await second.page.getByText('The order is accepted.').waitFor();
    const isApproved = ({ by, code }: { by: string; code: string }) =>
      by === 'ann and ben' && code === 'quote-approved';
    await until('it to go on', async () => (await show())['timeline'].some(isApproved));
    for (const { page, problems } of [first, viewer, second]) {
      expect(problems).toEqual([]);
      await page.close();
    }
  });

  test('receivers that do not answer are shown, since when, and how many flows wait for them', async () => {
    const receiver = await startReceiver();
    receiver.answer = () => 'cut';
    const callbackUrl = `${receiver.url}/hook`;
    const input = transferInput(newReference('console'), { callbackUrl, timeScale: 0.01 });
    await stack.gateway.post('/flows/bridge-transfer', input);
    await until('its circuit to open', async () => {
      const { openCircuits } = (await stack.gateway.get('/callbacks')).body as unknown as CallbackListJson;
      return openCircuits.some(({ origin }) => origin === receiver.url);
    });
    const { page, problems } = await open(VIEWER);
    await page.getByRole('link', { name: 'Callbacks', exact: true }).click();
    await page.getByRole('heading', { name: 'Receivers that do not answer' }).waitFor();
    await page
      .getByText(new RegExp(`^http://127\\.0\\.0\\.1:${receiver.port} since .+ ago\\): 1 flows wait$`))
      .waitFor();
    expect(problems).toEqual([]);
    await page.close();
    await receiver.close();
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

  test('no page scrolls sideways on a phone, and the decision shows both amounts and until when the quote is valid', async () => {
    const parkedFlow = await parkOne();
    const reference = newReference('phone');
    const flowId = `bridge-transfer/${reference}`;
    await stack.gateway.post('/flows/bridge-transfer', transferInput(reference, { approval: 'required' }));
    const show = async () => (await stack.gateway.get(`/flows/${flowId}`)).body;
    await until('its quote to wait', async () => (await show())['stage'] === 'awaiting-approval');
    const { page, problems } = await open(OPERATOR);
    await page.setViewportSize({ width: 360, height: 740 });
    const sideways = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    const addresses = ['#/', '#/proposals', '#/contradictions', '#/flows', '#/events', '#/callbacks'];
    for (const address of [...addresses, `#/flow/${parkedFlow}`, `#/flow/${flowId}`]) {
      await page.goto(`${stack.gateway.url}/console${address}`);
      await page.getByText('Loading').waitFor({ state: 'detached' });
      expect([address, Math.max(0, await sideways())]).toEqual([address, 0]);
      await shoot(page, `phone-${address.replaceAll(/[^a-z]+/g, '-')}`.slice(0, 24));
    }
    await page.getByRole('button', { name: 'Approve the quote' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Quote ends').waitFor();
    expect(Math.max(0, await sideways())).toBe(0);
    const { terms } = await show();
    for (const { amount, currency } of [terms.sends, terms.receives])
      await dialog.getByText(`${amount} ${currency}`, { exact: true }).waitFor();
    await shoot(page, 'phone-dialog');
    await dialog.getByRole('button', { name: 'No, go back' }).click();
    // The focus is where it was.
    expect(await hasFocus(page.getByRole('button', { name: 'Approve the quote' }))).toBe(true);
    expect(problems).toEqual([]);
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

  test('the pages of all these tests asked their gateway alone, for its own files and by its public interface', async () => {
    const { paths } = (await stack.gateway.get('/openapi.json')).body as { paths: Record<string, object> };
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        (method) => new RegExp(`^${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      ),
    );
    const isOwnFile = (path: string) =>
      /^GET \/console(\/[\w-]+\.(js|css|md))?$/.test(path) || path === 'GET /docs/favicon.png';
    const { url } = stack.gateway;
    const asked = [...requested].map((request) => request.replace(` ${url}/`, ' /'));
    expect(asked.filter((path) => !isOwnFile(path) && !operations.some((is) => is.test(path)))).toEqual([]);
    const called = asked.filter((path) => !isOwnFile(path));
    expect(called).toContain('GET /whoami');
    expect(called.some((path) => /^POST \/flows\/.+\/resolve$/.test(path))).toBe(true);
  });
});

const hasFocus = (target: Locator): Promise<boolean> => target.evaluate((element) => element.matches(':focus'));
const eventIn = (parked: unknown): string => JSON.stringify(parked).match(/evt_[\w-]+/)?.[0] ?? '';

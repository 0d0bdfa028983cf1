import type { BrowserContext, Page } from 'playwright-core';
import { transferInput } from './inputs.js';
import { newReference } from './references.js';
import type { StackWithGateway } from './stack.js';
import { until } from './until.js';

/** A transfer whose provider reports another amount than was ordered: it parks, and a person decides. */
export async function parkOneOf({ control, gateway }: StackWithGateway, amount = '1000.50'): Promise<string> {
  const reference = newReference('console');
  await control('POST', '/scenarios', { reference, ending: 'mismatching-amount' });
  await gateway.post('/flows/bridge-transfer', transferInput(reference, { amount, timeScale: 0.02 }));
  const path = `/flows/bridge-transfer/${reference}`;
  await until('it to park', async () => (await gateway.get(path)).body['state'] === 'parked');
  await until('it to be listed as parked', async () => {
    const { body } = await gateway.get(`/flows?state=parked&reference=${reference}`);
    return (body['flows'] as unknown[]).length === 1;
  });
  return `bridge-transfer/${reference}`;
}

/** Opens the console with a token. `problems`: the errors of the page. */
export async function signIn(
  context: BrowserContext,
  gatewayUrl: string,
  token: string,
): Promise<{ page: Page; problems: string[] }> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(`${gatewayUrl}/console`);
  await page.getByLabel('Token').waitFor();
  await page.keyboard.type(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Parked flows' }).waitFor();
  return { page, problems };
}

import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import type { WorkflowHandle } from '@temporalio/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SERVER } from '../crash-matrix/mtls-fixture.js';
import { findBrowser, openBrowser, shoot } from '../harness/browser.js';
import { transferInput } from '../harness/inputs.js';
import { flowInput } from '../harness/kind.js';
import { openLogin } from '../harness/oidc-issuer.js';
import { newReference } from '../harness/references.js';
import { untilFlow } from '../harness/reports.js';
import { openStack, type StackWithGateway } from '../harness/stack.js';
import offramp from '../kinds/offramp.js';
import { temporalPrograms } from './temporal-cluster.js';
import { startTemporalUi } from './temporal-ui.js';

const CLIENT = { id: 'temporal-ui', secret: 'the-secret-of-the-temporal-ui' };
/** In the input of a flow, and nowhere in clear text at Temporal. */
const WALLET = 'wallet-of-the-caller';
const executable = findBrowser('the Temporal UI behind a login');

(executable === undefined ? describe.skip : describe)('the Temporal UI behind a login, in Chromium', () => {
  let stack: StackWithGateway;
  let uiUrl: string;
  let pageOfFlow: string;
  const closing: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-ui-login-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    // The UI passes its tokens on only over https, which a proxy in front of the gateway ends.
    let gatewayPort = 0;
    const front = await tlsFront(() => gatewayPort);
    closing.push(async () => void front.close());
    const codec = {
      endpoint: `https://localhost:${(front.address() as AddressInfo).port}/codec`,
      passAccessToken: true,
    };
    let issuer = '';
    const ui = await startTemporalUi((await temporalPrograms(console.error))['temporal-ui'], {
      address: process.env['TEST_TEMPORAL_ADDRESS'] ?? '',
      folder,
      settings: async (url) => {
        const redirectUri = `${url}/auth/sso/callback`;
        const login = await openLogin({ ...CLIENT, redirectUri }, { ann: 'oncall', vic: 'look' });
        closing.push(() => login.close());
        issuer = login.url;
        const provider = {
          label: 'login',
          type: 'oidc',
          providerUrl: issuer,
          callbackUrl: redirectUri,
          scopes: ['openid'],
        };
        return {
          codec,
          auth: { enabled: true, providers: [{ ...provider, clientId: CLIENT.id, clientSecret: CLIENT.secret }] },
        };
      },
    });
    uiUrl = ui.url;
    closing.push(() => ui.stop());
    stack = await openStack({
      gateway: {
        env: {
          OIDC_ISSUER: issuer,
          OIDC_AUDIENCE: `towline,${CLIENT.id}`,
          OIDC_ROLES: 'look=viewer,oncall=operator',
        },
        options: { uiOrigin: ui.url },
      },
    });
    closing.push(() => stack.close());
    gatewayPort = Number(new URL(stack.gateway.url).port);

    const handle = await stack.start(transferInput(newReference('login'), { wallet_id: WALLET }));
    await handle.result();
    pageOfFlow = `${await addressOf(handle)}/history`;
  });
  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  test('decodes for an operator, by the id token of the login, and the audit log has their name', async () => {
    const page = await logIn('ann');
    await page.getByText(WALLET).first().waitFor();
    const [decoding] = await stack.store.audit.list({ kind: 'decode', limit: 1 });
    expect(decoding).toMatchObject({ actor: 'oidc:ann', role: 'operator', means: 'oidc' });
  });

  test('shows a viewer the flow without its content', async () => {
    const page = await logIn('vic');
    await page.getByText('Data decoding failed - Forbidden').first().waitFor();
    expect(await page.getByText(WALLET).count()).toBe(0);
    expect(await stack.store.audit.list({ kind: 'decode', actor: 'vic', limit: 1 })).toEqual([]);
  });

  test('shows an operator why a flow is parked, and what may be done', async () => {
    const reference = newReference('offramp');
    await stack.control('POST', '/faults', { operation: 'createOfframp', kind: 'error-before', reference, first: 1 });
    await stack.gateway.post('/flows/offramp', { ...flowInput(offramp, reference), timeScale: 0.02 });
    const handle = stack.client.workflow.getHandle(`offramp/${reference}`);
    await untilFlow(handle, ({ view }) => view.state === 'parked');
    const page = await logIn('ann');
    await page.setViewportSize({ width: 1_360, height: 1_050 });
    await page.goto(`${await addressOf(handle)}/user-metadata`);
    const details = page.frameLocator('iframe').last();
    for (const text of ['is parked', 'not_found_at_service', 'send-again', 'close-not-executed']) {
      await details.getByText(text).first().waitFor();
    }
    await shoot(page, 'parked-flow');
  });

  async function addressOf(handle: WorkflowHandle): Promise<string> {
    const { workflowId, runId } = await handle.describe();
    return `${uiUrl}/namespaces/default/workflows/${encodeURIComponent(workflowId)}/${runId}`;
  }

  async function logIn(name: string): Promise<Page> {
    const browser = await openBrowser(executable as string);
    closing.push(() => browser.close());
    const page = await browser.context.newPage();
    await page.goto(pageOfFlow);
    await page.getByRole('button', { name: /SSO/ }).click();
    await page.getByPlaceholder('Enter any login').fill(name);
    await page.getByPlaceholder('and password').fill('any');
    await page.getByRole('button', { name: 'Sign-in' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    // Until then, another page would cut the login off.
    await page.waitForURL((url) => pageOfFlow.startsWith(url.origin));
    await page.goto(pageOfFlow);
    return page;
  }
});

async function tlsFront(gatewayPort: () => number): Promise<Server> {
  const front = createServer({ key: SERVER.key, cert: SERVER.cert }, (outer) => {
    const inner = connect(gatewayPort(), '127.0.0.1');
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      one.on('error', () => other.destroy());
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  return front;
}

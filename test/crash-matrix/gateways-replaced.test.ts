import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createIntegrator } from '../../src/contract/account.js';
import { reportSettlement } from '../../src/contract/bridge.js';
import { openStore } from '../../src/store/libsql/open.js';
import { parseKeyring } from '../../src/keys/index.js';
import { scratchFolder } from '../cli/run.js';
import { signed } from '../gateway/setup/sign.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import cardDeposit from '../kinds/card-deposit.js';
import cryptoSend from '../kinds/crypto-send.js';
import { openWorkerRig, type GatewayProcess } from './worker-process.js';

const ORDERS = 6;
const SENDERS = 4;
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
/** Three processes start. */
jest.setTimeout(300_000);
const scratch = await scratchFolder();

let rig: Awaited<ReturnType<typeof openWorkerRig>>;
beforeAll(async () => {
  rig = await openWorkerRig(scratch, newReference('gateways'), { stepMs: 20 });
});
afterAll(() => rig.close());

test('fault 59: a gateway is replaced under load by SIGTERM: every waiting caller is answered, webhooks have their rows, POSTs cut 0', async () => {
  await rig.startWorker();
  const settings = { PROXY_TIMEOUT: '300', TIME_SCALE: '0.02', SETTLEMENT_SECRETS: SECRET };
  const [old, successor] = [await rig.startGateway(settings), await rig.startGateway(settings)];

  const references = Array.from({ length: ORDERS }, () => newReference('ordered'));
  const orders = references.map((reference) =>
    ask(old, cryptoSend.posts.sendCrypto.path, { ...cryptoSend.input(reference), cryptoAmount: 12.5 }),
  );
  // The gateway itself sends these: what it passes on, and the card that it keeps.
  const integrator = ask(old, createIntegrator.path, createIntegrator.example);
  const byCard = newReference('by-card');
  const deposit = ask(old, cardDeposit.posts.createCardDeposit.path, { ...cardDeposit.input(byCard), amount: 250.5 });
  const underWay = () => rig.service.underWay() === ORDERS + 2;
  await until(() => `all POSTs to be under way (${rig.service.posts()} are)`, underWay);
  const answered = new Set<string>();
  const unanswered = new Set<string>();
  const senders = Array.from({ length: SENDERS }, () => sendUntilRefused(old, { answered, unanswered }));
  await until('webhooks to come in', () => answered.size > 2 * SENDERS);

  old.child.kill('SIGTERM');
  const answers = await Promise.all([...orders, deposit]);
  expect(answers.map(({ status }) => status)).toEqual([...references, byCard].map(() => 202));
  await Promise.all(senders);
  rig.service.letGo();
  expect(await integrator).toMatchObject({ status: 200, body: { success: true } });
  expect(await old.ended).toBe(0);

  // As their sender does.
  for (const reference of unanswered) expect(await report(successor, reference)).toBe(200);
  const store = await openStore({ path: rig.store, keyring: parseKeyring(rig.env.PAYLOAD_KEYS) });
  const kept = (await store.inbox.list({ limit: 100_000, bodies: false })).map(({ reference }) => reference);
  // The service reports the card deposit, too.
  const rows = kept.filter((reference) => reference !== byCard);
  await store.close();
  const sent = new Set([...answered, ...unanswered]);
  expect([new Set(rows), rows.length]).toEqual([sent, sent.size]);
  for (const reference of references) {
    const path = `/flows/crypto-send/${reference}/wait?timeoutSeconds=300`;
    const { body } = await ask(successor, path);
    expect(body).toMatchObject({ state: 'completed' });
    expect(JSON.stringify(body)).not.toContain('outcome-unknown');
  }
  await until('the answer to the card deposit', async () => {
    const { body } = await ask(successor, `/flows/card-deposit/${byCard}/answers`);
    const { answers: known } = body as { answers: readonly { data?: unknown }[] };
    return known.length === 1 && known[0]?.data !== undefined;
  });
  expect(JSON.stringify((await ask(successor, `/flows/card-deposit/${byCard}`)).body)).not.toContain('outcome-unknown');
  expect(rig.service.cut()).toBe(0);
  expect(rig.service.posts()).toBe(ORDERS + 2);
});

async function ask({ url }: GatewayProcess, path: string, body?: unknown) {
  const headers = { authorization: 'Bearer dev-token', 'content-type': 'application/json' };
  const answer = await fetch(
    url + path,
    body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
  );
  return { status: answer.status, body: await answer.json() };
}

/** One webhook after the other, until the gateway takes no connection any more. */
async function sendUntilRefused(
  gateway: GatewayProcess,
  { answered, unanswered }: Record<'answered' | 'unanswered', Set<string>>,
) {
  for (;;) {
    const reference = newReference('reported');
    const status = await report(gateway, reference).catch((error: unknown) => error);
    (status === 200 ? answered : unanswered).add(reference);
    if (status !== 200) return;
  }
}

/** One event of the settlement provider. */
async function report({ url }: GatewayProcess, reference: string): Promise<number> {
  const body = JSON.stringify({ provider_reference_id: reference, status: 'SETTLING' });
  const headers = { 'content-type': 'application/json', ...signed(SECRET, body) };
  const answer = await fetch(url + reportSettlement.path, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

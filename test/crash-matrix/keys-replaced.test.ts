import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, jest } from '@jest/globals';
import { reportSettlement } from '../../src/contract/bridge.js';
import { parseKeyring } from '../../src/keys/index.js';
import { run, runProcess, scratchFolder } from '../cli/run.js';
import { signed } from '../gateway/setup/sign.js';
import { newReference } from '../harness/references.js';
import { controlOf } from '../harness/service.js';
import { until } from '../harness/until.js';
import cryptoSend from '../kinds/crypto-send.js';
import { makeTemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { describeStores } from '../store/store-kinds.js';
import { openAt } from '../store/temporary-store.js';
import { openWorkerRig, type GatewayProcess, type WorkerProcess } from './worker-process.js';

const CALLERS = 2;
const ACROSS = 2;
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const NEW_KEY = `k2:${Buffer.alloc(32, 8).toString('base64')}`;
const REPLACEMENT_MS = 180_000;
/** Three workers, three gateways and a command start. */
jest.setTimeout(400_000);
const scratch = await scratchFolder();

describeStores('a payload key is replaced under load, and dropped once the flows from before have ended', (kind) => {
  it('with every flow completed and paid once, and every webhook stored once and readable', async () => {
    const folder = join(scratch, kind);
    await mkdir(folder);
    const database = kind === 'postgres' ? await makeTemporaryDatabase() : undefined;
    const rig = await openWorkerRig(folder, newReference(`keys-${kind}`), {
      stepMs: 20,
      repeatMode: 'execute-again',
    });
    const { control, executions, move } = controlOf(rig.sandbox.url);
    const OLD_KEY = rig.env.PAYLOAD_KEYS;
    const settings = (...keys: string[]) => ({
      PAYLOAD_KEYS: keys.join(','),
      SERVICE_BASE_URL: rig.sandbox.url,
      SETTLEMENT_SECRETS: SECRET,
      TIME_SCALE: '0.1',
      ...(database === undefined ? {} : { DATABASE_URL: database.url }),
    });

    let present: { readonly gateway: GatewayProcess; readonly worker: WorkerProcess } | undefined;
    /** Each takes over from one that is stopped by SIGTERM. */
    const replace = async (...keys: string[]) => {
      const old = present;
      const [gateway, worker] = await Promise.all([
        rig.startGateway(settings(...keys)),
        rig.startWorker(undefined, settings(...keys)),
      ]);
      present = { gateway, worker };
      const stopped = old === undefined ? [] : [old.gateway, old.worker];
      for (const { child } of stopped) child.kill('SIGTERM');
      for (const { ended } of stopped) expect(await ended).toBe(0);
    };
    /** As a caller does: if the gateway was replaced meanwhile, again at the next one. */
    const ask = async (path: string, body?: string, more: Record<string, string> = {}) => {
      const headers = { authorization: 'Bearer dev-token', 'content-type': 'application/json', ...more };
      for (;;) {
        const to = present?.gateway;
        const isReplaced = () => to !== present?.gateway;
        try {
          const answer = await fetch(
            `${to?.url}${path}`,
            body === undefined ? { headers } : { method: 'POST', headers, body },
          );
          const result = { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
          if (result.status < 500 || !isReplaced()) return result;
        } catch (error) {
          if (!isReplaced()) throw error;
        }
      }
    };

    const begun: string[] = [];
    const completed: string[] = [];
    const reported: string[] = [];
    const report = async () => {
      const reference = newReference('reported');
      const body = JSON.stringify({ provider_reference_id: reference, status: 'SETTLING' });
      expect((await ask(reportSettlement.path, body, signed(SECRET, body))).status).toBe(200);
      reported.push(reference);
    };
    const send = async (reference: string) => {
      begun.push(reference);
      const body = JSON.stringify({ ...cryptoSend.input(reference), cryptoAmount: 12.5 });
      expect([200, 202]).toContain((await ask(cryptoSend.posts.sendCrypto.path, body)).status);
    };
    const complete = async (reference: string) => {
      const isOver = async () => {
        const { status, body } = await ask(`/flows/crypto-send/${reference}/wait?timeoutSeconds=60`);
        expect(status).toBe(200);
        return body['state'] === 'running' ? undefined : body;
      };
      expect(await until(`${reference} to end`, isOver, REPLACEMENT_MS)).toMatchObject({ state: 'completed' });
      completed.push(reference);
    };
    const stopping = new AbortController();
    const keepSending = async () => {
      while (!stopping.signal.aborted) {
        const reference = newReference('sent');
        await report();
        await send(reference);
        await complete(reference);
      }
    };
    const load: { all: Promise<unknown> } = { all: Promise.resolve() };
    const whileLoaded = (what: string, holds: () => boolean) =>
      Promise.race([
        load.all.then(() => Promise.reject(new Error('the load ended'))),
        until(what, holds, REPLACEMENT_MS),
      ]);
    const more = () => {
      const before = completed.length;
      return whileLoaded('more flows to complete', () => completed.length > before + CALLERS);
    };

    try {
      await replace(OLD_KEY, NEW_KEY);
      load.all = Promise.all(Array.from({ length: CALLERS }, keepSending));
      load.all.catch(() => undefined);
      await more();
      await replace(NEW_KEY, OLD_KEY);
      const early = [...begun];

      const env = { ...rig.env, ...settings(NEW_KEY, OLD_KEY) };
      const rotating = runProcess(['keys', 'rotate'], env);
      const across = Array.from({ length: ACROSS }, () => newReference('across'));
      for (const reference of across) {
        await control('POST', '/scenarios', { reference, ending: cryptoSend.open.ending });
        await send(reference);
      }
      expect(await rotating).toMatchObject({ code: 0 });
      const listed = await run(['keys', 'list', '--json'], env);
      expect(JSON.parse(listed.out)).toMatchObject({ keys: [{ keyId: 'k2' }, { keyId: 'k1', storeValues: 0 }] });
      await whileLoaded('the flows from before to end', () => early.every((one) => completed.includes(one)));
      await replace(NEW_KEY);
      await more();
      for (const reference of across) await move(reference, 'SUCCESSFUL');
      await Promise.all(across.map(complete));
      stopping.abort();
      await load.all;
      expect(new Set(completed)).toEqual(new Set(begun));

      for (const reference of completed) expect(await executions('sendCrypto', reference)).toBe(1);
      const store = await openAt(database?.url ?? rig.store, { keyring: parseKeyring(NEW_KEY) });
      const rows = await store.inbox.list({ limit: 100_000 });
      expect(new Set(rows.map(({ reference }) => reference))).toEqual(new Set(reported));
      expect(rows).toHaveLength(reported.length);
      expect(rows.map(({ body }) => body)).toEqual(
        rows.map(({ reference }) => ({ provider_reference_id: reference, status: 'SETTLING' })),
      );
      expect([...(await store.keys.usage()).keys()]).toEqual(['k2']);
      await store.close();
    } finally {
      stopping.abort();
      await rig.close();
      await database?.drop();
    }
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { CLIENTS, SERVER } from '../crash-matrix/mtls-fixture.js';
import { KINDS } from '../harness/kinds.js';
import { startTestCluster, type TestCluster } from '../setup/postgres/test-cluster.js';
import { makeTemporaryDatabase, type TemporaryDatabase } from '../setup/postgres/temporary-database.js';
import { startMembers, type Members } from './members.js';
import { playFlows } from './play.js';
import { startTemporalCluster, type TemporalCluster } from './temporal-cluster.js';

/** A Postgres, a Temporal server and five processes start. */
jest.setTimeout(300_000);
const log = (line: string): void => void process.stderr.write(`${line}\n`);

describe('a real Temporal server that takes only clients with a certificate', () => {
  const closing: (() => Promise<unknown>)[] = [];
  let temporal: TemporalCluster;
  let members: Members;

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-mtls-'));
    closing.push(() => rm(folder, { recursive: true, force: true }));
    // Of its own: a Postgres has the databases of one Temporal.
    const postgres = (await startTestCluster({ ...process.env, TEST_POSTGRES: 'required' }, log)) as TestCluster;
    closing.push(() => postgres.stop());
    temporal = await startTemporalCluster({
      databaseUrl: postgres.url,
      folder: join(folder, 'temporal'),
      mtls: { server: SERVER, client: CLIENTS.first },
      log,
    });
    closing.push(() => temporal.stop());
    const store: TemporaryDatabase = await makeTemporaryDatabase();
    closing.push(() => store.drop());
    const write = async (name: string, pem: string) => {
      const path = join(folder, name);
      await writeFile(path, pem, { mode: 0o400 });
      return path;
    };
    members = await startMembers({
      temporalAddress: temporal.address,
      namespace: 'default',
      databaseUrl: store.url,
      folder,
      env: {
        TEMPORAL_TLS_SERVER_NAME: 'localhost',
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: await write('ca.pem', SERVER.ca),
        TEMPORAL_TLS_CLIENT_CERT_PATH: await write('client.pem', CLIENTS.first.cert),
        TEMPORAL_TLS_CLIENT_KEY_PATH: await write('client.key', CLIENTS.first.key),
      },
    });
    closing.push(() => members.stop());
  });

  /** With TLS 1.3 a client is refused after the handshake, when it reads. */
  function refusalOf(certificate: Pick<ConnectionOptions, 'cert' | 'key'>): Promise<string | undefined> {
    const [host, port] = temporal.address.split(':');
    const socket = connect({ host, port: Number(port), servername: 'localhost', ca: SERVER.ca, ALPNProtocols: ['h2'], ...certificate }); // prettier-ignore
    socket.resume();
    return new Promise((resolve, reject) => {
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      socket.once('close', () => reject(new Error('the server closed the connection without a reason')));
    });
  }

  afterAll(async () => {
    for (const close of closing.toReversed()) await close();
  });

  test('refuses a client without one, and one with another', async () => {
    expect(await refusalOf({})).toBe('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED');
    expect(await refusalOf(CLIENTS.second)).toMatch(/^ERR_SSL_.*ALERT/);
  });

  test('serves gateways and workers with their certificates: a flow of every kind completes, and is executed once', async () => {
    const played = await playFlows(members, KINDS.length, 'mtls');
    expect(played.filter(({ state }) => state !== 'completed')).toEqual([]);
    expect(new Set(played.flatMap(({ executions }) => Object.values(executions)))).toEqual(new Set([1]));
  });

  test('is read by its UI, with that certificate', async () => {
    expect((await fetch(`${temporal.uiUrl}/api/v1/namespaces/default`)).status).toBe(200);
  });
});

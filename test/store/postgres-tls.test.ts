import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openPostgresStore } from '../../src/store/postgres/open.js';
import { SELF_SIGNED } from '../service-client/tls-fixture.js';
import { clusterUrl } from '../setup/postgres/temporary-database.js';
import { startTestCluster, type TestCluster } from '../setup/postgres/test-cluster.js';
import { keyring } from './temporary-store.js';

(clusterUrl === undefined ? describe.skip : describe)('a store on Postgres with sslmode=verify-full', () => {
  let folder = '';
  let cluster: TestCluster | undefined;
  let ca = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'towline-tls-'));
    ca = join(folder, 'ca.pem');
    await writeFile(ca, SELF_SIGNED.cert);
    cluster = await startTestCluster(process.env, () => undefined, SELF_SIGNED);
  });
  afterAll(async () => {
    await cluster?.stop();
    await rm(folder, { recursive: true });
  });

  /** With its name, which its certificate has, and the query after the `?`. */
  const urlOf = (given: string | undefined, query: string): string => {
    const url = new URL(given ?? '');
    url.hostname = 'localhost';
    url.search = query;
    return url.href;
  };
  const open = (url: string) => openPostgresStore({ url, keyring, giveUpAfterMs: 500 });
  const codeOf = (url: string) =>
    open(url).then(
      async (store) => store.close(),
      (error: { code?: string }) => error.code,
    );

  it("opens over TLS with the database's CA in sslrootcert", async () => {
    const store = await open(urlOf(cluster?.url, `sslmode=verify-full&sslrootcert=${ca}`));
    await store.check();
    await store.close();
  });

  it('does not open with a certificate that no known CA signed', async () => {
    expect(await codeOf(urlOf(cluster?.url, 'sslmode=verify-full'))).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  });

  it('does not open at a database without TLS, as with an attacker in between', async () => {
    expect(await codeOf(urlOf(clusterUrl, `sslmode=verify-full&sslrootcert=${ca}`))).toBe('CONNECTION');
  });
});

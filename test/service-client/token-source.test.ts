import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServiceClient, createTokenSource } from '../../src/service-client/index.js';
import { answerJson, serveHttp } from './scripted-server.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towline-token-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function tokenFile(name: string, text: string, mode = 0o600): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  await chmod(path, mode);
  return path;
}

describe('the token source', () => {
  it('reads a file that only its owner can read, without its last line break', async () => {
    const source = createTokenSource({ tokenFile: await tokenFile('good', 'secret-1\n') });
    expect(await source.token()).toBe('secret-1');
  });

  it.each([0o640, 0o604, 0o644, 0o660, 0o700])('refuses a file of mode %o, with a sentence', async (mode) => {
    const source = createTokenSource({ tokenFile: await tokenFile('open', 'secret-1', mode) });
    await expect(source.token()).rejects.toThrow(/^The token file .* run chmod 600 on it\.$/);
  });

  it('refuses a file that is missing, empty, too large or holds two words', async () => {
    await expect(createTokenSource({ tokenFile: join(folder, 'none') }).token()).rejects.toThrow(/ENOENT/);
    for (const text of ['', 'two words', 'x'.repeat(20_000)]) {
      const source = createTokenSource({ tokenFile: await tokenFile('bad', text) });
      await expect(source.token()).rejects.toMatchObject({ name: 'TokenFileError' });
    }
  });

  it('reads again once for all who were refused the same token, and not for those who come late', async () => {
    const path = await tokenFile('rotating', 'old');
    const source = createTokenSource({ tokenFile: path });
    await source.token();
    await writeFile(path, 'new');
    await Promise.all(Array.from({ length: 50 }, () => source.refresh('old')));
    expect(await source.token()).toBe('new');
    await writeFile(path, 'newer');
    await source.refresh('old');
    expect(await source.token()).toBe('new');
  });

  it('keeps the old token where the file cannot be read again', async () => {
    const path = await tokenFile('vanishing', 'old');
    const source = createTokenSource({ tokenFile: path });
    await source.token();
    await rm(path);
    await expect(source.refresh('old')).rejects.toMatchObject({ name: 'TokenFileError' });
    expect(await source.token()).toBe('old');
  });

  it('lets calls work again after a 401, without sending the refused one twice', async () => {
    const path = await tokenFile('used', 'old');
    const source = createTokenSource({ tokenFile: path });
    const server = await serveHttp((response, _, { headers }) =>
      headers.authorization === 'Bearer new'
        ? answerJson(response, 200, { success: true, message: '', data: { status: 'APPROVED' } })
        : answerJson(response, 401, { success: false, message: 'token expired' }),
    );
    const client = createServiceClient({
      baseUrl: server.url,
      token: () => source.token(),
      onUnauthorized: (rejected) => source.refresh(rejected),
    });
    await source.token();
    await writeFile(path, 'new');
    await expect(client.getKycStatus('kyc-1')).rejects.toMatchObject({ name: 'NotSentError', reason: 'unauthorized' });
    expect(server.seen).toHaveLength(1);
    expect(await client.getKycStatus('kyc-1')).toEqual({ status: 'APPROVED' });
    client.close();
    await server.close();
  });

  it('takes a fixed token, if it is one', async () => {
    expect(await createTokenSource({ token: 'fixed' }).token()).toBe('fixed');
    expect(() => createTokenSource({ token: 'a b' })).toThrow(/visible ASCII/);
  });
});

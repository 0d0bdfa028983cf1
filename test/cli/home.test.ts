import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { lockHome } from '../../src/cli/up/up.js';
import { ensureHome, loadSettings } from '../../src/cli/wiring/load-settings.js';
import { SettingsError } from '../../src/config/index.js';
import { scratchFolder } from './run.js';
import { secretBytes } from '../harness/secrets.js';

const scratch = await scratchFolder();
let homes = 0;
const newHome = () => join(scratch, `home-${(homes += 1)}`);

describe('the lock of a home', () => {
  test('is held until it is released', async () => {
    const home = await ensureHome(newHome());
    const release = lockHome(home);
    expect(() => lockHome(home)).toThrow(`${process.pid}`);
    release();
    lockHome(home)();
  });
});

describe('the secrets of development', () => {
  test('are made once, for the owner alone, and every process reads the same', async () => {
    const env = { TOWLINE_HOME: newHome() };
    const [one, other] = await Promise.all([loadSettings(env), loadSettings(env)]);
    const third = await loadSettings(env);
    expect(one.settings.serviceToken).toMatch(/^sandbox-[\w-]{32}$/);
    expect(one.settings.settlementSecrets).toEqual([expect.stringMatching(/^whsec_/)]);
    for (const { settings } of [other, third]) {
      expect(settings.serviceToken).toBe(one.settings.serviceToken);
      expect(settings.settlementSecrets).toEqual(one.settings.settlementSecrets);
    }
    expect((await stat(one.home.secrets)).mode & 0o777).toBe(0o600);
    expect((await stat(one.home.folder)).mode & 0o777).toBe(0o700);
  });

  test('differ from home to home', async () => {
    const [one, other] = await Promise.all([
      loadSettings({ TOWLINE_HOME: newHome() }),
      loadSettings({ TOWLINE_HOME: newHome() }),
    ]);
    expect(one.settings.serviceToken).not.toBe(other.settings.serviceToken);
  });

  test('yield to settings', async () => {
    const { settings } = await loadSettings({ TOWLINE_HOME: newHome(), SERVICE_TOKEN: 'given-token' });
    expect(settings.serviceToken).toBe('given-token');
  });

  test('make SETTLEMENT_TRUST=signed possible without a secret of its own', async () => {
    const { settings } = await loadSettings({ TOWLINE_HOME: newHome(), SETTLEMENT_TRUST: 'signed' });
    expect(settings.settlementSecrets).toHaveLength(1);
  });

  test('are refused if others can read them', async () => {
    const env = { TOWLINE_HOME: newHome() };
    const { home } = await loadSettings(env);
    await chmod(home.secrets, 0o644);
    await expect(loadSettings(env)).rejects.toThrow(`chmod 600 ${home.secrets}`);
  });

  test('are not made if the service is not on this machine: then every problem is listed', async () => {
    const folder = newHome();
    const error = await loadSettings({ TOWLINE_HOME: folder, SERVICE_BASE_URL: 'https://service.example' }).catch(
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as SettingsError).message).toContain('SERVICE_TOKEN_FILE');
    await expect(readFile(join(folder, 'secrets'))).rejects.toThrow('ENOENT');
  });
});

describe('secrets in a .env file that others can read', () => {
  const PRODUCTION = {
    DEVELOPMENT: 'false',
    SERVICE_TOKEN: 'given-token',
    PAYLOAD_KEYS: `k:${secretBytes(5).toString('base64')}`,
  };

  test('are refused outside of development, by their names', async () => {
    const file = join(scratch, 'env');
    await writeFile(file, 'SERVICE_TOKEN=hush-hush\nexport GATEWAY_TOKENS="hush"\nPAYLOAD_KEYS=\nLOG_LEVEL=debug\n');
    await chmod(file, 0o644);
    const starting = loadSettings({ TOWLINE_HOME: newHome(), ...PRODUCTION }, file);
    await expect(starting).rejects.toThrow(SettingsError);
    await expect(starting).rejects.toThrow('SERVICE_TOKEN, GATEWAY_TOKENS');
    await expect(starting).rejects.toThrow(file);
    await loadSettings({ TOWLINE_HOME: newHome() }, file);
    await chmod(file, 0o600);
    await loadSettings({ TOWLINE_HOME: newHome(), ...PRODUCTION }, file);
    await writeFile(file, 'LOG_LEVEL=debug\n');
    await chmod(file, 0o644);
    await loadSettings({ TOWLINE_HOME: newHome(), ...PRODUCTION }, file);
  });
});

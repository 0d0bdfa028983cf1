import { readSettings, type Environment, type Settings } from '../../config/index.js';
import { type DevelopmentSecrets, loadOrMakeSecrets } from './development-secrets.js';
import { ensureHome, type Home } from './home.js';

export interface LoadedSettings {
  readonly settings: Settings;
  readonly home: Home;
}

/** Of a form that passes every check, so that the other settings can be read before the secrets are known. */
const STAND_IN: DevelopmentSecrets = {
  SERVICE_TOKEN: 'stand-in',
  SETTLEMENT_SECRETS: `whsec_${Buffer.alloc(32).toString('base64')}`,
};

/**
 * The settings of this process. In development, the token of the service and the secret of settlements need not be set:
 * they are made once and kept in TOWLINE_HOME, so that sandbox, gateway and worker agree.
 * @throws SettingsError
 */
export async function loadSettings(env: Environment): Promise<LoadedSettings> {
  const settings = settingsWith(env, STAND_IN);
  if (settings?.development !== true) {
    const asGiven = readSettings(env);
    return { settings: asGiven, home: await ensureHome(asGiven.towlineHome) };
  }
  const home = await ensureHome(settings.towlineHome);
  return { settings: readSettings(completed(env, await loadOrMakeSecrets(home.secrets))), home };
}

function settingsWith(env: Environment, secrets: DevelopmentSecrets): Settings | undefined {
  try {
    return readSettings(completed(env, secrets));
  } catch {
    // Read again as given: the problems are told from there.
    return undefined;
  }
}

function completed(env: Environment, secrets: DevelopmentSecrets): Environment {
  const isGiven = (name: string) => (env[name]?.trim() ?? '') !== '';
  return {
    ...env,
    ...(isGiven('SERVICE_TOKEN') || isGiven('SERVICE_TOKEN_FILE') ? {} : { SERVICE_TOKEN: secrets.SERVICE_TOKEN }),
    ...(isGiven('SETTLEMENT_SECRETS') ? {} : { SETTLEMENT_SECRETS: secrets.SETTLEMENT_SECRETS }),
  };
}

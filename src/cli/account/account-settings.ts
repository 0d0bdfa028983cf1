import { randomBytes } from 'node:crypto';
import type { Environment } from '../../config/index.js';
import { loadSettings, type LoadedSettings } from '../wiring/load-settings.js';

/** What a gateway or a worker needs and an account operation does not: who has no account yet has none of it set. */
const NOT_NEEDED = {
  PUBLIC_URL: () => 'https://not-needed.invalid',
  PAYLOAD_KEYS: () => `unused:${randomBytes(32).toString('base64')}`,
  GATEWAY_TOKENS: () => `unused:admin:${randomBytes(24).toString('base64url')}`,
} as const;

/**
 * The settings for an account operation.
 * @param needs `token`: it sends the service token; `nothing`: it is called before there is one
 */
export function accountSettings(env: Environment, needs: 'token' | 'nothing'): Promise<LoadedSettings> {
  const isGiven = (name: string) => (env[name]?.trim() ?? '') !== '';
  const standIns = Object.entries(NOT_NEEDED).flatMap(([name, make]) => (isGiven(name) ? [] : [[name, make()]]));
  const hasToken = needs === 'token' || isGiven('SERVICE_TOKEN') || isGiven('SERVICE_TOKEN_FILE');
  return loadSettings({
    ...env,
    ...Object.fromEntries(standIns),
    ...(hasToken ? {} : { SERVICE_TOKEN: 'none-yet-and-never-sent' }),
  });
}

import { callbackUrlProblem } from '../../callbacks/index.js';
import type { Settings } from '../../config/settings-shape.js';
import { Refusal } from '../http/refusal.js';

/** Refuses what can be told from the URL alone; the rest is judged when a callback is sent. @throws Refusal 400 */
export function checkCallbackUrl(settings: Pick<Settings, 'callbackAllowLoopback'>, input: unknown): void {
  const { callbackUrl } = (input ?? {}) as { callbackUrl?: unknown };
  if (typeof callbackUrl !== 'string') return;
  const message = callbackUrlProblem(callbackUrl, { allowLoopback: settings.callbackAllowLoopback });
  if (message === undefined) return;
  throw new Refusal(400, `callbackUrl ${message}.`, { errors: [{ path: 'callbackUrl', message }] });
}

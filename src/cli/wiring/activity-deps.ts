import { randomUUID } from 'node:crypto';
import type { ActivityDeps, ActivityLog } from '../../../activities/deps.js';
import { createCallbackSender } from '../../callbacks/index.js';
import type { ServiceClient } from '../../client/index.js';
import { type DuplicateReferenceRule, isLoopback, type Settings } from '../../config/index.js';
import type { Store } from '../../store/store.js';
import { callbackSecrets } from './callback-secrets.js';

/** What the activities need, from the settings. */
export function activityDeps(parts: {
  readonly settings: Settings;
  readonly store: Store;
  readonly service: ServiceClient;
  readonly log: ActivityLog;
}): ActivityDeps {
  const { settings, store, service, log } = parts;
  const rules: Readonly<Record<string, DuplicateReferenceRule>> = settings.duplicateReference;
  return {
    service,
    store,
    account: settings.serviceAccount,
    publicUrl: settings.publicUrl,
    serviceTimeoutMs: settings.serviceTimeoutMs,
    serviceIsOnLoopback: isLoopback(new URL(settings.serviceBaseUrl).hostname),
    allowPlaintext: settings.allowPlaintext,
    repeatSettingOf: (operation) => rules[operation] ?? 'unknown',
    newOwner: () => randomUUID(),
    monotonicMs: () => performance.now(),
    log,
    callbacks: createCallbackSender({
      secrets: callbackSecrets(settings, store),
      allowLoopback: settings.callbackAllowLoopback,
    }),
  };
}

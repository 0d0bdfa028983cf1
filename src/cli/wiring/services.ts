import type { Settings } from '../../config/index.js';
import type { Keyring } from '../../keys/index.js';
import type { Store } from '../../store/store.js';
import type { Given } from './deployment.js';
import { loadKeyring, openConfiguredStore } from './dependencies.js';
import type { LoadedSettings } from './load-settings.js';
import { identityOf, openTemporal, type Temporal } from './temporal.js';

/** Store and Temporal of the settings. */
export interface Services {
  readonly settings: Settings;
  readonly keyring: Keyring;
  readonly store: Store;
  readonly temporal: Temporal;
  /** The name of this process in histories and among pollers. */
  readonly identity: string;
  /** What must belong together. */
  readonly deployment: Given;
  close(): Promise<void>;
}

/**
 * @param name of the process, such as `gateway`
 * @param onUndecodable called with the reason if a payload of Temporal cannot be decrypted
 */
export async function openServices(
  { settings, home }: LoadedSettings,
  name: string,
  onUndecodable: (reason: string) => void = () => undefined,
): Promise<Services> {
  const keyring = await loadKeyring(settings);
  const store = await openConfiguredStore(settings, home, keyring);
  const identity = identityOf(name, process.pid);
  const temporal = openTemporal({ settings, keyring, identity, onUndecodable });
  return {
    settings,
    keyring,
    store,
    temporal,
    identity,
    deployment: { store, namespace: temporal.namespace, account: settings.serviceAccount },
    async close() {
      await temporal.close();
      await store.close();
    },
  };
}

/** For a command: opens them, and closes them when the work is done or fails. */
export async function withServices<T>(
  loaded: LoadedSettings,
  name: string,
  work: (services: Services) => Promise<T>,
): Promise<T> {
  const services = await openServices(loaded, name);
  try {
    return await work(services);
  } finally {
    await services.close();
  }
}

import type { Settings } from '../../config/index.js';
import type { Store } from '../../store/store.js';
import { EXIT } from '../exit-codes.js';
import { explainError } from '../explain-error.js';
import type { Home } from '../wiring/home.js';
import { loadKeyring } from '../wiring/keyring.js';
import { openConfiguredStore, placeOfStore } from '../wiring/store.js';
import { bad, type Finding, good } from './finding.js';

/** Keys and store: whether the one opens the other, and whether it can be written durably. */
export async function checkStore(
  settings: Settings,
  home: Home,
): Promise<{ readonly findings: readonly Finding[]; readonly store?: Store }> {
  try {
    const keyring = await loadKeyring(settings);
    const store = await openConfiguredStore(settings, home, keyring);
    await store.check();
    const keys = settings.payloadKeys === undefined ? 'made for development' : 'from PAYLOAD_KEYS';
    return {
      store,
      findings: [
        good('payload keys', `${keys}; the active one is ${keyring.active.id}`),
        good('store', `${placeOfStore(settings, home)} can be written durably`),
      ],
    };
  } catch (error) {
    const explained = explainError(error);
    if (explained === undefined) throw error;
    return { findings: [bad('store', explained.sentence, EXIT.refused)] };
  }
}

import type { Settings } from '../../config/index.js';
import type { Store } from '../../store/store.js';
import { connectTemporal, namespaceOf, type TemporalClient } from '../../temporal/connection.js';
import { readDeploymentRecord } from '../../temporal/deployment-record.js';
import { EXIT } from '../exit-codes.js';
import { explainError } from '../explain-error.js';
import type { Home } from '../wiring/load-settings.js';
import { loadKeyring, openConfiguredStore, placeOfStore } from '../wiring/dependencies.js';
import { differenceOf, OtherDeploymentError, requireOwnStore } from '../wiring/deployment.js';
import { bad, type Finding, good, note } from './finding.js';
import { callWithin } from '../../temporal/call-within.js';

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
    return { findings: [bad('store', 'unusable', explained.sentence, EXIT.refused)] };
  }
}

const WITHIN_MS = 5_000;
const ABOUT = 'deployment';

/** Whether namespace, store and account are those that were bound to one another. Binds nothing. */
export async function checkDeployment(settings: Settings, store: Store): Promise<readonly Finding[]> {
  const account = settings.serviceAccount;
  let temporal: TemporalClient | undefined;
  try {
    await requireOwnStore({ store, namespace: namespaceOf(settings.temporal), account });
    temporal = connectTemporal({ variables: settings.temporal, identity: 'towline-doctor' });
    const { client, namespace } = temporal;
    const { id, epoch } = await store.deployment.read();
    const record = await callWithin(client, WITHIN_MS, () => readDeploymentRecord(client, namespace));
    if (record === undefined) {
      return [
        note(
          ABOUT,
          'not-bound',
          `namespace ${namespace} is bound to no store yet: the first gateway or worker binds it.`,
        ),
      ];
    }
    const difference = differenceOf(record, { store: id, account, epoch });
    if (difference !== undefined) {
      return [bad(ABOUT, `other-${difference.what}`, `namespace ${namespace} ${difference.sentence}`, EXIT.refused)];
    }
    return [good(ABOUT, `namespace ${namespace}, store ${id}, account ${account}, epoch ${epoch} belong together`)];
  } catch (error) {
    if (error instanceof OtherDeploymentError) return [bad(ABOUT, `other-${error.what}`, error.message, EXIT.refused)];
    return [
      note(ABOUT, 'unreachable', 'what the namespace is bound to cannot be read while Temporal does not answer.'),
    ];
  } finally {
    await temporal?.close();
  }
}

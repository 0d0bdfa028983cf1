import type { Logger } from 'pino';
import type { Settings } from '../../config/index.js';
import type { ServeCards } from '../../gateway/index.js';
import type { Store } from '../../store/store.js';
import { startCardWorker } from '../../temporal/card-worker.js';
import { activityDeps } from './activity-deps.js';
import { openService } from './service.js';
import type { Temporal } from './temporal.js';

/** The worker that sends the cards of one gateway, with a service client of its own. */
export function serveCardsBy(parts: {
  readonly settings: Settings;
  readonly store: Store;
  readonly temporal: Pick<Temporal, 'namespace' | 'dataConverter'>;
  readonly identity: string;
  readonly logger: Logger;
}): ServeCards {
  const { settings, store, temporal, identity, logger: log } = parts;
  return async (cards) => {
    const service = openService(settings);
    const worker = await startCardWorker({
      variables: settings.temporal,
      namespace: temporal.namespace,
      dataConverter: temporal.dataConverter,
      activities: activityDeps({ settings, store, service, log }),
      log,
      identity: `${identity}-cards`,
      cards,
    }).catch((error: unknown) => {
      service.close();
      throw error;
    });
    const ended = worker.ended.finally(() => service.close());
    ended.catch(() => undefined);
    return { ended, shutdown: () => worker.shutdown() };
  };
}

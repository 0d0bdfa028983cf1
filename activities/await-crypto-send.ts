import { RejectedError } from '../src/client/index.js';
import type { ActivityDeps } from './deps.js';
import { notYet, reading } from './failures.js';
import { nextTurnMs } from './polling.js';

/** Words of a crypto send that are final; the interface shows none, `assumptions` says where these come from. */
const SUCCEEDED: readonly string[] = ['SUCCESSFUL', 'SUCCESS', 'COMPLETED'];
const FAILED: readonly string[] = ['FAILED', 'CANCELLED', 'EXPIRED', 'DECLINED', 'PERMANENTLY_FAILED', 'REVERSED'];

export function createCryptoSendActivities(deps: ActivityDeps) {
  return {
    /** Polls a crypto send until its status is final. An unknown word is neither success nor final. */
    async awaitCryptoSend(order: {
      reference: string;
      timeScale: number;
    }): Promise<{ succeeded: boolean; status: string }> {
      const record = await reading(() => deps.service.getCryptoSend(order.reference));
      if (record instanceof RejectedError) {
        throw notYet(`the status lookup was refused (${record.httpStatus})`, nextTurnMs(order.timeScale));
      }
      const status = record.status ?? '(none)';
      if (SUCCEEDED.includes(status)) return { succeeded: true, status };
      if (FAILED.includes(status)) return { succeeded: false, status };
      throw notYet(`the crypto send is ${status}`, nextTurnMs(order.timeScale));
    },
  };
}

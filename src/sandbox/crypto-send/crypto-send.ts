import { createHash } from 'node:crypto';
import { accounts, type Ledger, transfer } from '../ledger/ledger.js';
import type { History } from '../history.js';
import type { JobKind, Scheduler } from '../scheduler.js';
import type { LiveSettings } from '../settings.js';
import { advanceSend, sendScriptOf, type SendStatus } from './endings.js';
import type { Send, Sends } from './sends.js';

export const SEND_JOB = 'send-step';

/** The integrator's own wallet: the request names none. */
const WALLET = accounts.wallet('integrator');

export interface CryptoSends {
  /** Sets a new send going; inside `database.write`. */
  begin(send: Send): void;
  /** The "Onramp-crypto record" of the interface. */
  record(send: Send): object;
  readonly job: JobKind;
}

/** Carries crypto sends along their lifecycle. */
export function createCryptoSends(deps: {
  sends: Sends;
  history: History;
  ledger: Ledger;
  scheduler: Pick<Scheduler, 'schedule'>;
  settings: LiveSettings;
  /** The crypto has arrived; somebody may have waited for it. */
  onArrived: (send: Send) => void;
}): CryptoSends {
  const { sends, history, ledger, scheduler, settings, onArrived } = deps;

  function planNext(send: Send, status: SendStatus): void {
    const script = sendScriptOf(send.ending);
    if (script.next[status] === undefined) return;
    const { stepMs, slowFactor } = settings.current();
    scheduler.schedule(SEND_JOB, script.slow === true ? stepMs * slowFactor : stepMs, { id: send.id, from: status });
  }

  function post(send: Send, kind: 'crypto-send' | 'reversal'): void {
    const { token, cryptoAmount } = send.request;
    const [from, to] = kind === 'reversal' ? [accounts.cryptoOut, WALLET] : [WALLET, accounts.cryptoOut];
    const postings = transfer(from, to, token, String(cryptoAmount));
    ledger.post({ kind, reference: send.reference, executionId: send.executionId, postings });
  }

  return {
    begin(send) {
      sends.add(send);
      history.add(send.id, send.status, 'request');
      post(send, 'crypto-send');
      planNext(send, send.status);
    },
    record({ id, reference, status, request }) {
      const { cryptoAmount, receiverAddress, chain, token } = request;
      return {
        referenceId: reference,
        status,
        feeType: 'NONE',
        cryptoWallet: receiverAddress,
        transactionHash: status === 'SUCCESSFUL' ? `0x${createHash('sha256').update(id).digest('hex')}` : undefined,
        cryptoAmount,
        cryptoAmountReceived: status === 'SUCCESSFUL' ? cryptoAmount : 0,
        feeInCrypto: 0,
        chain: { name: chain },
        token: { symbol: token },
      };
    },
    job: {
      lane: 'commit',
      run({ id, from }: { id: string; from: SendStatus }) {
        const send = sends.get(id);
        const status = send && advanceSend(sendScriptOf(send.ending), send.status, from);
        if (send === undefined || status === undefined) return;
        sends.setStatus(id, status);
        history.add(id, status, 'time');
        if (status === 'FAILED') post(send, 'reversal');
        if (status === 'SUCCESSFUL') onArrived(send);
        planNext(send, status);
      },
    },
  };
}

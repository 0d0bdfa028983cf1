import type { ActivityDeps } from '../../../activities/index.js';
import type { Card } from '../../../src/contract/deposit.js';
import { createCardVault, type CardVault } from '../../../src/gateway/cards/card-intake.js';
import type { LogSink } from '../../../src/temporal/sdk-logger.js';
import { CANARY_CARD } from '../../harness/parties.js';
import type { Stack } from '../../harness/stack.js';

export interface CardGateway {
  readonly vault: CardVault;
  /** Keeps a card; gives what a flow's input has in its place. */
  keep(card?: Card): { cardToken: string; masked: string };
  close(): Promise<void>;
}

/** The part of a gateway that keeps cards and sends them. */
export async function startCardGateway(
  bench: Stack,
  log: LogSink,
  deps: Partial<ActivityDeps> = {},
): Promise<CardGateway> {
  const vault = createCardVault({ nowMs: Date.now });
  const worker = await bench.cardWorker(vault, { log, ...deps });
  return {
    vault,
    keep(card = CANARY_CARD) {
      const { cardToken, masked } = vault.keep(card, 'shop');
      return { cardToken, masked };
    },
    close: () => worker.shutdown(),
  };
}

import type { CryptoSendRequest } from '../../contract/onramp.js';
import type { CryptoSends } from '../crypto-send/crypto-send.js';
import { SEND_ENDINGS, SEND_MAGIC_AMOUNTS, type SendEnding, sendScriptOf } from '../crypto-send/endings.js';
import type { Send } from '../crypto-send/sends.js';
import type { Executions } from '../ledger/executions.js';
import { magicDecimals } from '../magic.js';
import { insufficientFunds, transactionFailed } from '../refusal.js';
import type { Scenarios } from '../scenarios.js';
import type { Handler } from './handler.js';

const isEnding = (word: string): word is SendEnding => Object.hasOwn(SEND_ENDINGS, word);

export function createSendCrypto(deps: {
  executions: Executions;
  scenarios: Scenarios;
  cryptoSends: CryptoSends;
  createId: () => string;
}): Handler<'sendCrypto'> {
  const { executions, scenarios, cryptoSends, createId } = deps;

  function endingFor({ referenceId, cryptoAmount }: CryptoSendRequest): SendEnding {
    const scenario = scenarios.get(referenceId)?.ending;
    if (scenario !== undefined && isEnding(scenario)) return scenario;
    return SEND_MAGIC_AMOUNTS[magicDecimals(cryptoAmount) ?? ''] ?? 'completed';
  }

  return ({ body }) => {
    const reference = body.referenceId;
    const repeated = executions.answerToRepeat('sendCrypto', reference);
    if (repeated !== undefined) return repeated;
    const ending = endingFor(body);
    const { refuses } = sendScriptOf(ending);
    if (refuses !== undefined) return refuses === 'insufficient-funds' ? insufficientFunds() : transactionFailed();

    const amount = String(body.cryptoAmount);
    const executionId = executions.record({ operation: 'sendCrypto', reference, amount, currency: body.token, body });
    const send: Send = { id: `SEND-${createId()}`, reference, status: 'PENDING', ending, request: body, executionId };
    cryptoSends.begin(send);
    return executions.answered(executionId, { message: 'Crypto send created', data: cryptoSends.record(send) });
  };
}

import { inTurns } from '../../../src/in-turns.js';
import { until } from '../../harness/until.js';
import { signed } from './sign.js';
import type { Answer } from '../../harness/service.js';
import type { Stack } from '../../end-to-end/stack.js';
import { newReference } from '../../harness/references.js';
import { transferInput } from '../../harness/inputs.js';

const SETTLEMENT_PATH = '/api/v3/deposit/crypto-bridge/webhook/provider/settlement';
const FORGERS_SECRET = `whsec_${Buffer.alloc(32, 66).toString('base64')}`;
const STATUSES = ['COMPLETED', 'FAILED', 'REFUNDED', 'SETTLING'] as const;

/** Every status, with the right amount and with another one, unsigned and signed by a secret of the forger's. */
const KINDS = STATUSES.flatMap((status) =>
  [{}, { settlement_details: { amount: 1, currency: 'USD' } }].flatMap((facts) =>
    [false, true].map((isSigned) => ({ status, facts, isSigned })),
  ),
);
export const FORGERIES_OF_A_KIND = KINDS.length;

const viewOf = async (stack: Stack, reference: string): Promise<Answer> =>
  (await stack.get(`/flows/bridge-transfer/${reference}`)).body;

/** A transfer whose deposit is made, and about which the service reports no more. */
export async function silentTransfer(stack: Stack): Promise<string> {
  const reference = newReference('forged');
  await stack.control('POST', '/scenarios', { reference, ending: 'silent' });
  await stack.post('/flows/bridge-transfer', transferInput(reference, { timeScale: 1 }));
  await until('the deposit', async () => (await viewOf(stack, reference))['stage'] === 'tracking');
  return reference;
}

/** Makes it true at the service, which then reports it. @returns the state in which the flow ended */
export async function completeTransfer(stack: Stack, reference: string): Promise<string> {
  const url = `${stack.sandbox.url}${SETTLEMENT_PATH}`;
  await stack.control('POST', '/forge', { reference, status: 'COMPLETED', url });
  const said = { provider_reference_id: reference, status: 'COMPLETED', amount: 1000.5, currency: 'KES' };
  await stack.post(stack.callbackPath(reference), said);
  return String((await stack.get(`/flows/bridge-transfer/${reference}/wait?timeoutSeconds=300`)).body['state']);
}

export interface Forged {
  /** Answered 401: signed by another party. */
  readonly refused: number;
  /** Answered 200: kept as unverified. */
  readonly kept: number;
  readonly otherAnswers: readonly number[];
  /** Flows, deposits and refunds that moved. */
  readonly moved: readonly string[];
  /** Rows that count as proven. */
  readonly trusted: number;
  /** How the flows ended once the service reported it. */
  readonly ends: readonly string[];
}

/** Posts this many forgeries, every kind in turn, to this many flows, and returns what they have moved. */
export async function forgeSettlements(
  stack: Stack,
  { flows, forgeries }: { readonly flows: number; readonly forgeries: number },
): Promise<Forged> {
  const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
  const references = await inTurns(numbers(flows), 4, () => silentTransfer(stack));
  // As the sandbox would send them, which knows the facts.
  const facts = await inTurns(references, 4, async (reference) => {
    const order = { reference, status: 'COMPLETED', url: stack.sandbox.url };
    return (await stack.control('POST', '/forge', order))['sent'] as Answer;
  });
  const statuses = await inTurns(numbers(forgeries), 16, async (n) => {
    const kind = KINDS[n % KINDS.length] as (typeof KINDS)[number];
    const fact = facts[Math.floor(n / KINDS.length) % facts.length] ?? {};
    const forged = { ...fact, status: kind.status, ...kind.facts, metadata: { notes: `forged ${n}` } };
    const body = JSON.stringify(forged);
    return (await stack.post(SETTLEMENT_PATH, body, kind.isSigned ? signed(FORGERS_SECRET, body) : {})).status;
  });
  const moved: string[] = [];
  for (const reference of references) {
    const { state } = await viewOf(stack, reference);
    if (state !== 'running') moved.push(`${reference} is ${String(state)}`);
    const { deposits } = await stack.control('GET', `/deposits/${reference}`);
    if (deposits[0].status !== 'PAYMENT_CONFIRMED') moved.push(`the deposit of ${reference} is ${deposits[0].status}`);
    const refund = `/executions?operation=sendCrypto&reference=${reference}.refund`;
    if ((await stack.control('GET', refund))['count'] !== 0) moved.push(`${reference} was refunded`);
  }
  const trusted = (await stack.store.inbox.list({ trusted: true, limit: 10 })).length;
  return {
    refused: statuses.filter((status) => status === 401).length,
    kept: statuses.filter((status) => status === 200).length,
    otherAnswers: statuses.filter((status) => status !== 401 && status !== 200),
    moved,
    trusted,
    ends: await inTurns(references, 4, (reference) => completeTransfer(stack, reference)),
  };
}

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { cryptoSendFlow } from '../../src/flows/crypto-send.js';
import { startFlow } from '../../src/temporal/start-flow.js';
import type { Finding } from '../report/finding.js';
import type { Stack } from '../setup/stack.js';
import { until } from '../setup/until.js';

/** All waits of the flow, its pauses between lookups included, take a hundredth: the lookups of an hour are made in 36 s. */
const TIME_SCALE = 0.01;
const HOUR_MS = 3_600_000;
/** By default it would come within the hour. */
const DEADLINE_SECONDS = 24 * 3_600;
/** The service has it, and its status stays PENDING. */
const PENDING_FOR_EVER = 'never';

/** P6: history events that an hour of polling adds to a crypto send, about which no event ever comes. */
export async function eventsOfAnHour(stack: Stack): Promise<Finding> {
  const referenceId = `bench-${randomUUID()}`;
  await letStayPending(stack, referenceId);
  const input = cryptoSendFlow.input.parse({
    referenceId,
    receiverAddress: '0x00000000000000000000000000000000000000aa',
    chain: 'CELO',
    token: 'USDC',
    cryptoAmount: '12.5',
    timeScale: TIME_SCALE,
    deadlineSeconds: DEADLINE_SECONDS,
  });
  await startFlow(stack, 'crypto-send', input);
  const handle = stack.client.workflow.getHandle(`crypto-send/${referenceId}`);
  const polling = async () => {
    const { raw, historyLength } = await handle.describe();
    const [attempt = 0] = (raw.pendingActivities ?? []).map((activity) => activity.attempt ?? 0);
    return { attempt, historyLength };
  };
  // The first lookup returns PENDING, which is new: the second attempt of its activity. The third one is of the activity that
  // polls on.
  const before = await until('polling', async () => {
    const now = await polling();
    return now.attempt >= 3 && now;
  });
  await sleep(HOUR_MS * TIME_SCALE);
  const after = await polling();
  const lookups = after.attempt - before.attempt;
  return {
    budget: 'P6',
    what: 'history events that an hour of polling adds to a crypto send that stays PENDING',
    limit: { bound: 'at most', value: 0 },
    unit: 'events',
    // Without polling there was nothing to measure.
    measured: lookups > 0 ? after.historyLength - before.historyLength : Number.NaN,
    figures: `${lookups} lookups; ${before.historyLength} events before and ${after.historyLength} after; an hour in ${(HOUR_MS * TIME_SCALE) / 1_000} s by TIME_SCALE ${TIME_SCALE}`,
  };
}

async function letStayPending({ sandboxUrl }: Stack, reference: string): Promise<void> {
  const answer = await fetch(`${sandboxUrl}/_sandbox/scenarios`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reference, ending: PENDING_FOR_EVER, operation: 'sendCrypto' }),
  });
  if (!answer.ok) throw new Error(`the sandbox does not take its scenario: ${await answer.text()}`);
}

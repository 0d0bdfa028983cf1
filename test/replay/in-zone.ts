import { createPayloadCodec } from '../../src/temporal/payload-codec.js';
import { installRuntime } from '../../src/temporal/sdk-logger.js';
import { quoteLifeMs } from '../../src/flows/bridge-transfer.js';
import { refundLifeMs } from '../../workflows/bridge/transfer.js';
import { readRecordings, type Recording } from './histories.js';
import { RECORDING_KEYS, RECORDING_NAMESPACE } from './recording-key.js';
import { broken, replayed } from './replayed.js';

/*
 * A process of its own, since the zone of a process is one: replays every history in the zone of its `TZ`, and one more
 * whose service gives a time without a zone. Prints what zones.test.ts compares.
 */

export interface InZone {
  /** Of the machine: proof that the zone is another one. */
  readonly minutesFromUtc: number;
  readonly histories: number;
  readonly broken: readonly string[];
  /** Lifetimes of a quote and of a refund, whose times have no zone, ms. */
  readonly lives: readonly (number | null)[];
}

const silent = { info() {}, warn() {}, error() {}, debug() {} };
/** In neither hemisphere is it winter time all year. */
const [CREATED, EXPIRES] = ['2026-04-04T13:59:00', '2026-04-04T14:59:30'];

async function inThisZone(): Promise<InZone> {
  installRuntime(silent);
  const recordings = await readRecordings();
  const ownRefund = structuredClone(recordings.find(({ name }) => name === 'own-refund'));
  if (ownRefund === undefined) throw new Error('there is no history of a refund of ours');
  const all = [...recordings, await withRefundTimes(ownRefund)];
  return {
    minutesFromUtc: -new Date(0).getTimezoneOffset(),
    histories: all.length,
    broken: broken(await replayed(all)),
    lives: [
      quoteLifeMs({ created_at: `${CREATED}Z`, expires_at: CREATED.replace('59:00', '59:30') }),
      quoteLifeMs({ created_at: CREATED, expires_at: `${CREATED.replace('59:00', '59:40')}Z` }),
      refundLifeMs(CREATED, EXPIRES),
      refundLifeMs(`${CREATED}Z`, EXPIRES),
      refundLifeMs(CREATED, `${EXPIRES}+00:00`),
    ],
  };
}

const QUARTER_HOUR_MS = 900_000;

/**
 * The same history, in which the service gave the refund as long as our default, by a time without a zone: whoever reads it
 * as local time waits longer, or not at all, and issues other commands.
 */
async function withRefundTimes(recording: Recording): Promise<Recording> {
  const codec = createPayloadCodec({ keyring: RECORDING_KEYS, namespace: RECORDING_NAMESPACE });
  const events = recording.history.events ?? [];
  const scheduled = events.find((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'submitBridgeDeposit'); // prettier-ignore
  const completed = events.find(({ activityTaskCompletedEventAttributes: done }) => String(done?.scheduledEventId) === String(scheduled?.eventId)); // prettier-ignore
  const result = completed?.activityTaskCompletedEventAttributes?.result;
  const [payload] = await codec.decode(result?.payloads ?? []);
  const outcome = JSON.parse(Buffer.from(payload?.data ?? []).toString('utf8')) as Outcome;
  const expiresAtMs = new Date(outcome.answer.created_at).getTime() + QUARTER_HOUR_MS;
  outcome.answer.refund_config['expires_at'] = new Date(expiresAtMs).toISOString().slice(0, -1);
  const changed = { metadata: payload!.metadata!, data: new Uint8Array(Buffer.from(JSON.stringify(outcome))) };
  result!.payloads = await codec.encode([changed]);
  return { ...recording, name: 'own-refund-times-without-zone' };
}

interface Outcome {
  readonly answer: { readonly created_at: string; readonly refund_config: Record<string, unknown> };
}

console.log(JSON.stringify(await inThisZone()));

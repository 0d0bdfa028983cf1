import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../harness/until.js';
import { statesOf } from '../../store/states-of.js';
import { startCuttingProxy } from '../../store/cutting-proxy.js';
import { startFlowWorker } from './flow-worker.js';
import { signalsOf } from './signals.js';
import { gatewayUnderTest } from './gateway-under-test.js';
import { newReference } from '../../harness/references.js';
import { transferInput } from '../../harness/inputs.js';

/** Events that go as one signal. */
const PER_SIGNAL = 50;
/** Longer than a drain may take, so that its caller sees how long it took. */
const DRAINED_WITHIN_MS = 300_000;

export interface Outage {
  readonly flows: number;
  /** This many times, each flow gets a webhook. At most 50: those of one flow go as one signal. */
  readonly waves: number;
  /** From one wave to the next. */
  readonly everyMs: number;
}

export interface AfterOutage {
  readonly statuses: readonly number[];
  readonly noticed: boolean;
  /** Rows of the inbox while Temporal was down. */
  readonly meanwhile: { readonly waiting: number; readonly delivered: number };
  /** Ids of the inbox's rows, and of the events in the signals that Temporal took; both sorted. */
  readonly stored: readonly string[];
  readonly delivered: readonly string[];
  /** From the moment when Temporal can be reached again until every event is settled. */
  readonly drainedMs: number;
  /** The most signals that brought one flow something new. */
  readonly mostSignals: number;
  readonly states: Readonly<Record<string, number>>;
}

/** Stops Temporal for a gateway that has flows, posts webhooks meanwhile, and starts it again. */
export async function outage({ flows, waves, everyMs }: Outage): Promise<AfterOutage> {
  if (waves > PER_SIGNAL) throw new RangeError(`at most ${PER_SIGNAL} events of one flow go as one signal`);
  const [host = '', port] = (process.env['TEST_TEMPORAL_ADDRESS'] ?? '').split(':');
  const proxy = await startCuttingProxy({ host, port: Number(port) });
  const tested = await gatewayUnderTest({ temporalAddress: new URL(proxy.through('tcp://temporal')).host });
  try {
    const references = Array.from({ length: flows }, () => newReference('outage'));
    for (const reference of references) {
      const { status } = await tested.post('/flows/bridge-transfer', transferInput(reference));
      if (status !== 201) throw new Error(`a start was answered ${status}`);
    }
    proxy.down(true);
    const statuses: number[] = [];
    for (let wave = 0; wave < waves; wave += 1) {
      const nextAtMs = performance.now() + everyMs;
      const post = (reference: string) => tested.post(tested.callbackPath(reference), { status: 'PAYMENT_SENT', wave });
      for (const { status } of await Promise.all(references.map(post))) statuses.push(status);
      if (everyMs > 0) await sleep(Math.max(0, nextAtMs - performance.now()));
    }
    const isNoticed = () => tested.log.some(({ msg }) => msg === 'events cannot be delivered; trying again');
    await until('the outage to be noticed', isNoticed);
    const { waiting, delivered } = (await tested.store.inbox.counts()).byState;

    proxy.down(false);
    const backAtMs = performance.now();
    const worker = await startFlowWorker(tested);
    try {
      const isSettled = async () => {
        const { byState } = await tested.store.inbox.counts();
        return byState.waiting === 0 && byState.delivered === 0;
      };
      await until('every event to be settled', isSettled, DRAINED_WITHIN_MS);
      const drainedMs = performance.now() - backAtMs;
      const stored: string[] = [];
      const taken: string[] = [];
      let mostSignals = 0;
      for (const reference of references) {
        const flowId = `bridge-transfer/${reference}`;
        stored.push(...(await tested.store.inbox.list({ flowId, limit: 500 })).map(({ id }) => id));
        const known = new Set<string>();
        let signals = 0;
        // A signal whose answer was lost is sent again, and does not affect its flow: it takes each id once.
        for (const events of await signalsOf(tested.client, flowId)) {
          if (events.some(({ id }) => !known.has(id))) signals += 1;
          for (const { id } of events) known.add(id);
        }
        mostSignals = Math.max(mostSignals, signals);
        taken.push(...known);
      }
      return {
        statuses,
        noticed: isNoticed(),
        meanwhile: { waiting, delivered },
        stored: stored.toSorted(),
        delivered: taken.toSorted(),
        drainedMs,
        mostSignals,
        states: await statesOf(tested.store.inbox),
      };
    } finally {
      await worker.stop();
    }
  } finally {
    await tested.close();
    await proxy.close();
  }
}

import { createHmac, randomUUID } from 'node:crypto';
import type { FlowKind } from '../../../src/protocol/vocabulary.js';
import { readStore } from '../../end-to-end/reconcile/read-store.js';
import { KINDS, type NamedKind } from '../../harness/kinds.js';
import { until } from '../../harness/until.js';
import { startPlanned } from '../driver.js';
import { isEvent, isMoneyPost, type Watch } from '../watch.js';
import type { WireMoment, World } from '../world.js';

/** How long a trial waits for an expected event. */
const PATIENCE_MS = 60_000;
/** Waits of Towline take a twentieth of their time. */
const TIME_SCALE = 0.05;
/** No deadline comes unless a trial asks for one: 30 minutes. */
const DEADLINE_SECONDS = 36_000;

export const kindNamed = (kind: FlowKind): NamedKind => {
  const found = KINDS.find((one) => one.kind === kind);
  if (found === undefined) throw new TypeError(`no kind ${kind}`);
  return found;
};

/** A backend service and a person on call, of one world: what a trial is written in. */
export function personIn(world: World, watch: Watch) {
  const { control } = world;
  const begun = new Set<string>();
  const keys = new Map([[world.payloadKey.id, Buffer.from(world.payloadKey.base64, 'base64')]]);

  const ask = async (path: string): Promise<Json | undefined> => {
    const answer = await fetch(world.gatewayUrl + path, { headers: { authorization: `Bearer ${world.token}` } }).catch(
      () => undefined,
    );
    return answer?.ok === true ? ((await answer.json()) as Json) : undefined;
  };
  const stateOf = async (kind: FlowKind, reference: string): Promise<string | undefined> =>
    (await ask(`/flows/${kind}/${reference}`))?.['state'] as string | undefined;
  /** What the sandbox has sent about it. */
  const deliveries = async (reference: string): Promise<readonly Delivered[]> =>
    ((await control('GET', `/deliveries?reference=${reference}`)) as { deliveries: Delivered[] }).deliveries;
  const signed = (secret: string, body: string) => {
    const [id, at] = [`msg_${randomUUID()}`, String(Math.floor(Date.now() / 1_000))];
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
    return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` };
  };
  const untilTrue = (what: string, isTrue: () => boolean | Promise<boolean>) => until(what, isTrue, PATIENCE_MS);

  return {
    untilTrue,
    order: async (
      kind: FlowKind,
      reference: string,
      more: Record<string, unknown> = {},
      ending?: string,
    ): Promise<void> => {
      const { input, record, begunBy } = kindNamed(kind);
      const toBegin = begun.has(reference) ? undefined : begunBy?.(reference);
      await startPlanned(world, {
        kind,
        reference,
        input: { ...input(reference), timeScale: TIME_SCALE, deadlineSeconds: DEADLINE_SECONDS, ...more },
        ending: ending === undefined ? undefined : { ending, operation: record },
        begunElsewhere: toBegin,
      });
    },
    /** Starts at the service, as another party, what a flow then watches. */
    begin: async (kind: FlowKind, reference: string): Promise<void> => {
      const begunElsewhere = kindNamed(kind).begunBy?.(reference);
      if (begunElsewhere === undefined) throw new TypeError(`nothing of ${kind} begins elsewhere`);
      await control('POST', begunElsewhere.path, begunElsewhere.body);
      begun.add(reference);
    },
    /** A fault only for this reference. @returns how to remove it */
    fault: async (rule: Record<string, unknown>): Promise<() => Promise<void>> => {
      const { id } = await control('POST', '/faults', rule);
      return async () => void (await control('DELETE', `/faults/${String(id)}`));
    },
    untilState: (kind: FlowKind, reference: string, ...states: readonly string[]) =>
      untilTrue(`${kind}/${reference} to be ${states.join(' or ')}`, async () =>
        states.includes((await stateOf(kind, reference)) ?? ''),
      ),
    executed: async (operation: string, reference: string): Promise<number> =>
      (await control('GET', `/executions?operation=${operation}&reference=${reference}`))['count'] as number,
    deliveries,
    /** Keeps back the answer to the first money POST of a reference, until it is let pass. */
    holdAnswer: (reference: string): { readonly pass: () => void } => {
      let pass: () => void = () => undefined;
      const passed = new Promise<void>((resolve) => {
        pass = resolve;
      });
      const isMeant = (seen: WireMoment) =>
        isMoneyPost(seen) && seen.moment === 'answering' && seen.request.body.includes(`"${reference}"`);
      void watch.next(isMeant, () => passed, PATIENCE_MS);
      return { pass: () => pass() };
    },
    /** Keeps back every event of the service about a reference in this status, until they are let pass. */
    holdEvents: (reference: string, status: string): { readonly pass: () => void } => {
      let isHeld = true;
      let pass: () => void = () => undefined;
      const passed = new Promise<void>((resolve) => {
        pass = resolve;
      });
      const isMeant = (seen: WireMoment) =>
        isEvent(seen) &&
        seen.moment === 'asked' &&
        [`"${reference}"`, `"${status}"`].every((word) => seen.request.body.includes(word));
      const holdNext = (): void => {
        const onHeld = (): Promise<void> => {
          if (isHeld) holdNext();
          return passed;
        };
        void watch.next(isMeant, onHeld, PATIENCE_MS);
      };
      holdNext();
      return {
        pass() {
          isHeld = false;
          pass();
        },
      };
    },
    /** The callback URL of a POST that the product has sent. */
    callbackUrlOf: async (reference: string): Promise<string> => {
      const found = await until(`the POST of ${reference}`, () => {
        const sent = world.wire.requests().find(({ method, body }) => method === 'POST' && body.includes(reference));
        return /"callback_?[uU]rl":"([^"]+)"/.exec(sent?.body ?? '')?.[1];
      });
      return found;
    },
    /** Until the gateway has answered this delivery 2xx. */
    untilDelivered: (reference: string, status: string, stream?: string) =>
      untilTrue(`${status} of ${reference} to be delivered`, async () =>
        (await deliveries(reference)).some(
          (one) =>
            one.status === status &&
            (stream === undefined || one.stream === stream) &&
            one.note === 'genuine' &&
            one.attempts.some((attempt) => attempt.status !== null && attempt.status < 300),
        ),
      ),
    /** Until the gateway has signalled a proven event of this status to its flow: what is only stored, the flow has not got yet. */
    untilSignalled: (flowId: string, status: string) =>
      untilTrue(`${status} to be signalled to ${flowId}`, async () =>
        (await readStore(world.storePath, keys)).inbox.some(
          (row) => row.flowId === flowId && row.status === status && row.isTrusted && row.state !== 'waiting',
        ),
      ),
    /** Posts an event as its sender does, and writes it down. */
    post: async (url: string, secret: 'webhook' | 'settlement', content: unknown): Promise<number> => {
      const body = JSON.stringify(content);
      const { pathname } = new URL(url);
      const headers = {
        'content-type': 'application/json',
        ...signed(secret === 'webhook' ? world.webhookSecret : world.settlementSecret, body),
      };
      const asked = { of: 'gateway', method: 'POST', path: pathname, body };
      const { status } = await world.journal.write(asked, async () => {
        const answer = await fetch(url, { method: 'POST', headers, body });
        return { status: answer.status, body: await answer.json() };
      });
      return status;
    },
    /** An order about a parked flow. @returns the status of the answer */
    resolve: async (kind: FlowKind, reference: string, action: string): Promise<number> => {
      const path = `/flows/${kind}/${reference}/resolve`;
      const body = JSON.stringify({ action, note: 'a person decides' });
      const { status } = await world.journal.write({ of: 'gateway', method: 'POST', path, body }, async () => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${world.token}` };
        const answer = await fetch(world.gatewayUrl + path, { method: 'POST', headers, body });
        return { status: answer.status, body: await answer.json() };
      });
      return status;
    },
    /** An unsigned settlement with every fact right. */
    forge: async (reference: string): Promise<void> => {
      const body = { reference };
      const asked = { of: 'sandbox', method: 'POST', path: '/forge', body: JSON.stringify(body) };
      await world.journal.write(asked, async () => ({ status: 200, body: await control('POST', '/forge', body) }));
    },
    mayPark: (kind: FlowKind, reference: string, because: string): void => {
      world.journal.expect({ flowId: `${kind}/${reference}`, state: 'parked', because });
    },
  };
}

export type Person = ReturnType<typeof personIn>;

type Json = Readonly<Record<string, unknown>>;

export interface Delivered {
  readonly url: string;
  readonly body: string;
  readonly note: string;
  readonly stream: string;
  readonly status: string;
  readonly attempts: readonly { readonly status: number | null }[];
}

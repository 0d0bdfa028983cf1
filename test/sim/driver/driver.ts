import { type FlowKind, flowIdOf } from '../../../src/protocol/vocabulary.js';
import type { World } from '../world/world.js';
import { moneyOf, type Ordered } from '../../harness/kind.js';
import { KINDS, type NamedKind } from '../../harness/kinds.js';

/** What the driver has ordered, written down before it does it: the witness of what should have happened. */
export interface Journal {
  readonly flows: readonly StartedByDriver[];
  readonly orders: readonly PersonsOrder[];
}

export interface StartedByDriver {
  readonly kind: FlowKind;
  readonly reference: string;
  readonly flowId: string;
  readonly ending: string;
  /** The operation whose execution is the movement of money; null if nothing moves. */
  readonly money: string | null;
  /** The operation whose record shows how it ended. */
  readonly record: string;
  readonly ordered: readonly Ordered[];
  readonly deadlineMs: number;
  /** An invoice that its customer pays on its own page, and not we. */
  readonly paysItself: boolean;
  /** When the customer did. */
  paidOnPageAtMs: number | undefined;
  /** Undefined until a start was acknowledged. */
  acknowledgedAtMs: number | undefined;
}

/** The note of an order that was given by chance. */
export const CARELESS = 'careless';

export interface PersonsOrder {
  readonly atMs: number;
  readonly flowId: string;
  readonly reason: string;
  readonly action: string;
  readonly note: typeof CARELESS | 'honest';
  /** Its result; undefined while it is in progress. */
  outcome: string | undefined;
}

const RETRY_MS = 3_000;

export interface Driver {
  readonly journal: Journal & { readonly orders: PersonsOrder[] };
  /** Every start was acknowledged. */
  isDone(): boolean;
}

/** Starts some flows over a gateway, like callers: repeatedly until they get an answer, now and then twice. */
export async function startDriver(
  world: World,
  options: { readonly kind?: string | undefined; readonly ending?: string | undefined },
): Promise<Driver> {
  const { chance, quirks, timeline, trace, sandbox } = world;
  const kinds = options.kind === undefined ? KINDS : KINDS.filter(({ kind }) => kind === options.kind);
  if (kinds.length === 0) throw new Error(`no kind ${options.kind ?? ''}: ${KINDS.map(({ kind }) => kind).join(', ')}`);
  const flows: StartedByDriver[] = [];

  const count = chance.int(1, 3);
  for (let number = 1; number <= count; number += 1) {
    const kind = chance.one(kinds);
    const reference = `${kind.kind}-${number}`;
    const drawn = chance.yes(0.45) ? 'completed' : chance.one(kind.endings);
    const ending = options.ending ?? drawn;
    await sandbox.control('POST', '/scenarios', { reference, ending, operation: kind.record });
    const begun = kind.begunBy?.(reference);
    if (begun !== undefined) await sandbox.control('POST', begun.path, begun.body);
    const deadlineSeconds = chance.one([300, 900, 3_600, 3 * 3_600]);
    const paysItself = kind.kind === 'invoice-payment' && quirks.yes(0.5);
    const flow: StartedByDriver = {
      kind: kind.kind,
      reference,
      flowId: flowIdOf(kind.kind, reference),
      ending,
      money: moneyOf(kind),
      record: kind.record,
      ordered: kind.ordered(reference),
      deadlineMs: deadlineSeconds * 1_000,
      paysItself,
      paidOnPageAtMs: undefined,
      acknowledgedAtMs: undefined,
    };
    flows.push(flow);
    const body = {
      ...kind.input(reference),
      ...kind.varied?.(chance),
      ...(paysItself && { payment: undefined }),
      deadlineSeconds,
    };
    trace.add('driver', `orders ${flow.flowId}`, `ending ${ending}, deadline ${deadlineSeconds} s`);
    const times = chance.yes(0.15) ? 2 : 1;
    for (let time = 0; time < times; time += 1) timeline.in(chance.int(0, 5_000), () => start(flow, kind, body));
  }

  function start(flow: StartedByDriver, kind: NamedKind, body: Readonly<Record<string, unknown>>): void {
    const gateways = world.gateways();
    if (gateways.length === 0) return void timeline.in(RETRY_MS, () => start(flow, kind, body));
    const gateway = chance.one(gateways);
    let isAnswered = false;
    const again = (why: string): void => {
      if (isAnswered) return;
      isAnswered = true;
      // A caller without an answer tries again; for a card that was started, the first card counts.
      if (flow.acknowledgedAtMs === undefined) {
        trace.add('driver', `start of ${flow.flowId}`, why);
        timeline.in(RETRY_MS, () => start(flow, kind, body));
      }
    };
    gateway.process.whenDead(() => again('no answer: the gateway died'));
    gateway.start(flow.kind, body).then(
      ({ started }) => {
        isAnswered = true;
        trace.add('driver', `start of ${flow.flowId}`, started ? 'started' : 'was there');
        flow.acknowledgedAtMs ??= timeline.nowMs;
        return undefined;
      },
      (error: Error) => {
        // The same card under another token is another request: the flow is there, which is all that its caller wants.
        if (error.name === 'OtherRequestError' && flow.kind === 'card-deposit')
          flow.acknowledgedAtMs ??= timeline.nowMs;
        again(error.name);
      },
    );
  }

  return {
    journal: { flows, orders: [] },
    isDone: () => flows.every(({ acknowledgedAtMs }) => acknowledgedAtMs !== undefined),
  };
}

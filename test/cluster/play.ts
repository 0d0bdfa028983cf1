import { KINDS, type NamedKind } from '../harness/kinds.js';
import type { Members } from './members.js';

/** One flow, as both sides saw it in the end. */
export interface Played {
  readonly kind: string;
  readonly reference: string;
  readonly state: string;
  /** The service's executions under its reference, by operation; none if the flow only watches. */
  readonly executions: Readonly<Record<string, number>>;
  readonly durationMs: number;
}

const MOST_WAITS = 10;

/** Plays flows of all kinds in turn. Each is started at one gateway and waited for at the other one. */
export function playFlows(members: Members, count: number, name: string): Promise<readonly Played[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) =>
      playFlow(members, KINDS[index % KINDS.length] as NamedKind, index, name),
    ),
  );
}

async function playFlow(members: Members, kind: NamedKind, index: number, name: string): Promise<Played> {
  const reference = `${name}-${index + 1}`;
  const startedAtMs = performance.now();
  const gateways = members.gatewayUrls.length;
  const begun = kind.begunBy?.(reference);
  if (begun !== undefined) await members.sandbox.control('POST', begun.path, begun.body);
  const started = await members.call(index % gateways, 'POST', `/flows/${kind.kind}`, kind.input(reference));
  if (started.status !== 201) throw new Error(`${kind.kind}: ${started.status} ${JSON.stringify(started.body)}`);
  let state = 'running';
  for (let turn = 0; state === 'running' && turn < MOST_WAITS; turn += 1) {
    const path = `/flows/${kind.kind}/${reference}/wait?timeoutSeconds=20`;
    state = String((await members.call((index + 1) % gateways, 'GET', path)).body['state']);
  }
  const executions = await Promise.all(
    Object.keys(kind.posts).map(async (operation) => {
      return [operation, await members.sandbox.executions(operation, reference)] as const;
    }),
  );
  return {
    kind: kind.kind,
    reference,
    state,
    executions: Object.fromEntries(executions),
    durationMs: performance.now() - startedAtMs,
  };
}

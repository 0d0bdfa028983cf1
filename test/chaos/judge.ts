/*
 * The judge: a process of its own, beside the system that it judges. It waits until nothing moves any more, holds the
 * witnesses against one another, replays every history and looks for what must be found nowhere.
 * `node --import ./tools/typescript.mjs test/chaos/judge.ts CASE.json` writes the verdict, as JSON, to stdout.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Client, Connection } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createKeyring } from '../../src/keys/index.js';
import { createDataConverter } from '../../src/temporal/payload-codec.js';
import { installRuntime } from '../../src/temporal/sdk-logger.js';
import { groupBy } from '../end-to-end/reconcile/group-by.js';
import { check } from '../end-to-end/reconcile/check.js';
import { ask, gather, type Sources } from '../end-to-end/reconcile/gather.js';
import { createRest } from '../end-to-end/reconcile.js';
import type { Violation, Witnesses } from '../end-to-end/reconcile/witnesses.js';
import { ownFaults, type Injection } from './own-faults.js';

/** What the run hands to its judge. */
export interface Case {
  readonly temporalAddress: string;
  readonly sandboxUrl: string;
  readonly gatewayUrl: string;
  readonly storePath: string;
  readonly payloadKey: { readonly id: string; readonly base64: string };
  readonly journal: string;
  /** A file with what went over the wire, as JSON. */
  readonly wire: string;
  /** The same of what came to the gateways. */
  readonly inbound: string;
  readonly secrets: readonly string[];
  /** A folder whose files must hold no secret, and nothing personal in the clear. */
  readonly folder: string;
  readonly bundlePath: string;
  readonly patienceMs: number;
}

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly states: Readonly<Record<string, number>>;
  /** Flows that are parked, and what was done to each. */
  readonly parked: readonly { readonly flowId: string; readonly because: readonly string[] }[];
  /** How often a reference was executed: times → references. */
  readonly executions: Readonly<Record<string, number>>;
  readonly injected: Readonly<Record<string, number>>;
  /** Injections by which an executed request looked as if it may not have been. */
  readonly unknownAndExecuted: number;
  readonly deliveries: number;
  readonly inbox: Readonly<Record<string, number>>;
  /** By flow id, from start to end, ms; those that ended. */
  readonly latencies: Readonly<Record<string, { readonly startedAtMs: number; readonly tookMs: number }>>;
  readonly requestsToService: number;
  readonly replayed: number;
  readonly longestHistory: number;
  readonly mostSignals: number;
}

const NAMESPACE = 'default';

/** Of the inputs that the driver orders (`kinds-at-play.ts`): cards, names, numbers. Long enough to stand nowhere by chance. */
const PERSONAL = [
  '378282246310005',
  'Zyxwina',
  'Canaryholder',
  'Canary Payer',
  'Canary Payee',
  'Canary Receiver',
  'Canary Recipient',
  '+27821234567',
  '+254712345678',
  '0012345678',
  '62000000001',
];

const given = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as Case;
const quiet = { info() {}, warn() {}, error() {}, debug() {} };
installRuntime(quiet);
const keyBytes = Buffer.from(given.payloadKey.base64, 'base64');
const keyring = createKeyring([{ id: given.payloadKey.id, bytes: keyBytes }]);
const dataConverter = createDataConverter({ keyring, namespace: NAMESPACE });
const connection = await Connection.connect({ address: given.temporalAddress });
const client = new Client({ connection, namespace: NAMESPACE, dataConverter });

const wire = JSON.parse(readFileSync(given.wire, 'utf8')) as NonNullable<Witnesses['wire']>;
const sources: Sources = {
  client,
  taskQueue: 'towline',
  sandboxUrl: given.sandboxUrl,
  gatewayUrl: given.gatewayUrl,
  storePath: given.storePath,
  payloadKeys: new Map([[given.payloadKey.id, keyBytes]]),
  journal: given.journal,
  drivenAlone: true,
  wire: () => wire,
};

const flows = await createRest(sources, given.patienceMs)();
const gathered = await gatherAll();
const { injections } = await ask<{ injections: Injection[] }>(given.sandboxUrl, '/faults/log');
const faultsOf = ownFaults({ ...gathered, injections });
const parked = flows
  .filter(({ state }) => state === 'parked')
  .map(({ flowId, reference }) => ({ flowId, because: faultsOf(reference) }));
const expectations = parked
  .filter(({ because }) => because.length > 0)
  .map(({ flowId, because }) => ({ flowId, state: 'parked', because: because.join(', ') }));
const witnesses: Witnesses = { ...gathered, expectations };
const histories = await fetchHistories();
const violations = [...check(witnesses), ...(await replayAll()), ...searchCanaries()];
const verdict: Verdict = {
  violations,
  states: countBy(flows.map(({ state }) => state)),
  parked,
  executions: countBy(
    Object.values(countBy(witnesses.executions.map(({ operation, reference }) => `${operation} ${reference}`))).map(
      String,
    ),
  ),
  injected: countBy(injections.map(({ kind }) => kind)),
  unknownAndExecuted: injections.filter(({ kind, committed }) => committed && kind !== 'slow').length,
  deliveries: witnesses.deliveries.length,
  inbox: countBy(witnesses.inbox.map(({ state }) => state)),
  latencies: Object.fromEntries(
    histories.flatMap(({ workflowId, startedAtMs, closedAtMs }) =>
      closedAtMs === undefined ? [] : [[workflowId, { startedAtMs, tookMs: closedAtMs - startedAtMs }]],
    ),
  ),
  requestsToService: wire.length,
  replayed: histories.length,
  longestHistory: Math.max(0, ...histories.map(({ events }) => events)),
  mostSignals: Math.max(0, ...histories.map(({ signals }) => signals)),
};
process.stdout.write(JSON.stringify(verdict));
await connection.close();

/** A sandbox that is killed forgets the answers that it had just got: what came over the wire is known besides. */
async function gatherAll(): Promise<Witnesses> {
  const all = await gather(sources, flows);
  const inbound = JSON.parse(readFileSync(given.inbound, 'utf8')) as NonNullable<Witnesses['wire']>;
  const seen = groupBy(
    inbound.filter(({ method }) => method === 'POST'),
    ({ path, body }) => `${path} ${body}`,
  );
  const deliveries = [...groupBy(all.deliveries, ({ path, body }) => `${path} ${body}`)].flatMap(([key, copies]) => {
    const known = copies.reduce((sum, { answers }) => sum + answers.length, 0);
    const forgotten = Array.from({ length: Math.max(0, (seen.get(key)?.length ?? 0) - known) }, () => null);
    return copies.map((copy, index) => (index === 0 ? { ...copy, answers: [...copy.answers, ...forgotten] } : copy));
  });
  return { ...all, deliveries };
}

interface Fetched {
  readonly workflowId: string;
  readonly history: Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;
  readonly events: number;
  readonly signals: number;
  readonly startedAtMs: number;
  readonly closedAtMs: number | undefined;
}

async function fetchHistories(): Promise<readonly Fetched[]> {
  const fetched: Fetched[] = [];
  for (const { flowId } of flows) {
    const handle = client.workflow.getHandle(flowId);
    const [history, { startTime, closeTime }] = [await handle.fetchHistory(), await handle.describe()];
    const events = history.events ?? [];
    fetched.push({
      workflowId: flowId,
      history,
      events: events.length,
      signals: events.filter(({ workflowExecutionSignaledEventAttributes: signal }) => signal != null).length,
      startedAtMs: startTime.getTime(),
      closedAtMs: closeTime?.getTime(),
    });
  }
  return fetched;
}

/** I9: on the bundle that ran. */
async function replayAll(): Promise<readonly Violation[]> {
  const options = { workflowBundle: { codePath: given.bundlePath }, dataConverter, namespace: NAMESPACE };
  const broken: Violation[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(options, histories)) {
    if (error) broken.push({ invariant: 'I9', what: `${workflowId} does not replay: ${error.message.slice(0, 300)}` });
  }
  return broken;
}

/** I11: not in any history, nor in any file of the product: store, logs, home. */
function searchCanaries(): readonly Violation[] {
  const found = new Set<string>();
  const search = (where: string, text: string) => {
    for (const word of [...given.secrets, ...PERSONAL]) if (text.includes(word)) found.add(`${word} in ${where}`);
  };
  for (const { history } of histories) search('a history', bytesAsText(history));
  // In a process of its own: closing a database's file here would drop SQLite's locks on it.
  const files = execFileSync('find', [given.folder, '-type', 'f', '-not', '-path', '*/outside/*'], {
    encoding: 'utf8',
  });
  for (const file of files.split('\n').filter(Boolean)) {
    search(
      file.slice(given.folder.length + 1),
      execFileSync('cat', [file], { encoding: 'latin1', maxBuffer: 1 << 30 }),
    );
  }
  return [...found].map((what) => ({ invariant: 'I11', what }));
}

/** Payload bytes as text, too, so that base64 hides nothing. */
function bytesAsText(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(bytesAsText).join('\n');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(bytesAsText).join('\n');
  return '';
}

function countBy(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

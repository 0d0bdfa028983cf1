import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Benchmark } from '../benchmark.js';
import { HEAP_IN_A_CONTAINER, processMemoryMb } from '../measure/memory.js';
import { percentile } from '../measure/statistics.js';
import type { Finding } from '../report/finding.js';
import { startChild } from '../setup/child.js';
import { openStack, type Stack } from '../setup/stack.js';
import { startTemporalOnOneCore } from '../setup/temporal.js';
import { flowIdOfTransfer, openTransfers, transferInput } from '../setup/transfers.js';
import { until } from '../setup/until.js';
import { honestLoad, type HonestLoad, STEPS } from './honest-load.js';

const ATTACKERS = fileURLToPath(new URL('./attackers.ts', import.meta.url));
const LOADER = new URL('../../tools/typescript.mjs', import.meta.url).href;
/** Attackers with a token. */
const [GREEDY, HANGING, ...POLLERS] = ['greedy', 'hanging', 'poller-1', 'poller-2', 'poller-3', 'poller-4'].map(
  (name) => ({ name, secret: `${name}-${randomBytes(16).toString('hex')}` }),
) as [Attacker, Attacker, ...Attacker[]];
type Attacker = Readonly<Record<'name' | 'secret', string>>;
/** The decimals are a wish to the sandbox: it ends at once. */
const ENDED_AT_ONCE = '1000.50';

/** Input of the attackers, who know only the gateway. */
export interface AttackOrder {
  readonly url: string;
  readonly greedyToken: string;
  readonly hangingToken: string;
  /** The greedy one, and others. */
  readonly pollTokens: readonly string[];
  /** A flow that stays open. */
  readonly waitedFor: string;
  readonly transferInput: object;
  /** What they were answered is written there in the end: JSON, how often by what was done and the status. */
  readonly answersFile: string;
}

const WARM_UP_SECONDS = 30;
/** The quiet part, which comes before the attack, against the attack's length. */
const QUIET_SHARE = 1 / 6;
const SAMPLED_EVERY_MS = 2_000;
/** Small, so that a short run fills it. */
const QUOTA_MB = 2;
/** Two thirds of what that container may have. */
const MOST_MB = 512;
const REFUSED_PER_SECOND = 350;
/**
 * What the attacks are answered if they take place. The slowest of these answers are those of the long polls, after a
 * minute.
 */
const MET: Readonly<Record<string, readonly (number | 'cut')[]>> = {
  'forged reference': [200, 429],
  'one network': [200, 429],
  garbage: [429],
  'wrong signature': [401, 429],
  guess: [401, 429],
  list: [200, 429],
  wait: [200, 429, 503],
  card: [201, 429],
  'transfer whose receiver hangs': [201],
  slow: [408, 429],
  'slow of many': [408],
  idle: [408],
  flood: ['cut'],
  pipelined: ['cut'],
  'pipelined 64 KiB': [429],
};
const SETTLED_WITHIN_MS = 180_000;
const STANDS_STILL_MS = 2_000;

/** @param minutes of attack */
export const createAttackBenchmark = (minutes: number): Benchmark => ({
  name: 'attack',
  about: `everything that attackers do beside honest transfers, for ${minutes} minutes (--minutes N, 2 or more); only when named`,
  onlyNamed: true,
  async run(say) {
    const stack = await openStack(
      say,
      {
        // A callback that hangs is a warning.
        LOG_LEVEL: 'error',
        UNPROVEN_RATE_LIMIT: '',
        GATEWAY_RATE_LIMIT: '',
        UNPROVEN_DISK_MB: String(QUOTA_MB),
        TRUSTED_PROXIES: '127.0.0.1',
        NODE_OPTIONS: HEAP_IN_A_CONTAINER,
        GATEWAY_TOKENS: [
          'dev:admin:dev-token',
          ...[GREEDY, HANGING, ...POLLERS].map(({ name, secret }) => `${name}:flows+viewer:${secret}`),
        ].join(','),
      },
      startTemporalOnOneCore,
    );
    try {
      return await measure(stack, minutes, say);
    } finally {
      await stack.close();
    }
  },
});

async function measure(stack: Stack, minutes: number, say: (line: string) => void): Promise<readonly Finding[]> {
  const seconds = minutes * 60;
  say(`${WARM_UP_SECONDS} s to warm up, ${(minutes * QUIET_SHARE).toFixed(1)} min quiet, ${minutes} min attacked`);
  await honestLoad(stack, WARM_UP_SECONDS, () => undefined);
  const quiet = await honestLoad(stack, seconds * QUIET_SHARE, (line) => say(`quiet: ${line}`));
  const [waitedFor = ''] = await openTransfers(stack, 1);
  const [rssBefore, storeBefore] = [processMemoryMb(stack.gatewayPid(), 'VmRSS'), storeMb(stack)];
  const [rss, disk]: [number[], number[]] = [[], []];
  const attackers = await startAttackers(stack, waitedFor);
  const sampler = setInterval(() => {
    rss.push(processMemoryMb(stack.gatewayPid(), 'VmRSS'));
    stack.store.inbox.unprovenBytes().then(
      (bytes) => disk.push(bytes / 1e6),
      // Meets no limit.
      () => disk.push(Number.NaN),
    );
  }, SAMPLED_EVERY_MS);
  let under: HonestLoad;
  try {
    under = await honestLoad(stack, seconds, (line) =>
      say(`attacked: ${line}; gateway ${shownMb(rss.at(-1))}, events without proof ${shownMb(disk.at(-1))}`),
    );
  } finally {
    clearInterval(sampler);
    await attackers.stop();
  }
  const answers = await attackers.answers();
  const peakMb = processMemoryMb(stack.gatewayPid(), 'VmHWM');
  say('the books are checked');
  const kept = await reconcile(stack, [...quiet.references, ...under.references]);

  const third = Math.ceil(rss.length / 3);
  const finding = (
    what: string,
    unit: Finding['unit'],
    measured: number,
    value: number,
    figures: string,
    bound: Finding['limit']['bound'] = 'at most',
  ): Finding => ({ budget: 'attack', what, limit: { bound, value }, unit, measured, figures });
  const met = Object.entries(MET).flatMap(([what, statuses]) => statuses.map((status) => `${what} ${status}`));
  const notMet = met.filter((name) => !answers.has(name));
  const refused = [...answers].filter(([name]) => / (4\d\d|503)$/.test(name));
  const steps = Object.entries(STEPS).map(([step, what]) => {
    const [a, b] = [quiet, under].map(({ tookMs }) => tookMs[step as keyof typeof STEPS]) as [number[], number[]];
    const figures = `quiet ${shownTimes(a)}; attacked ${shownTimes(b)}`;
    return finding(`honest transfers: ${what}, p99 attacked against quiet`, '×', p99(b) / p99(a), 2, figures);
  });
  return [
    finding(
      'answers that the attacks must get and did not',
      'answers',
      notMet.length,
      0,
      `${minutes} min of attack; not met: ${notMet.join(', ') || 'none'}; answers: ${shownCounts(answers)}`,
    ),
    finding(
      'refused requests',
      '/s',
      refused.reduce((sum, [, count]) => sum + count, 0) / seconds,
      REFUSED_PER_SECOND,
      `in ${minutes} min, without connections that were cut`,
      'at least',
    ),
    ...steps,
    finding(
      'honest transfers that were not carried through',
      'flows',
      quiet.lost.length + under.lost.length,
      0,
      `${under.repeated} requests were sent again; ${[...quiet.lost, ...under.lost][0] ?? 'none was lost'}`,
    ),
    finding(
      'memory of the gateway: most in the last third of the attack against the first',
      '×',
      Math.max(...rss.slice(-third)) / Math.max(...rss.slice(0, third)),
      1.15,
      `before ${shownMb(rssBefore)}, at each tenth ${tenthsOf(rss)}`,
    ),
    finding(
      'memory of the gateway: its peak',
      'MB',
      peakMb,
      MOST_MB,
      `before ${shownMb(rssBefore)}; in the Helm chart its container may have 768 MiB`,
    ),
    finding(
      'disk of events without proof',
      'MB',
      // If nothing had to be deleted, the attack did not fill it.
      kept.dropped > 0 && disk.length > 0 ? Math.max(...disk) : Number.NaN,
      QUOTA_MB,
      `at each tenth ${tenthsOf(disk)}; ${kept.dropped} deleted; the store's file ${shownMb(storeBefore)} before, ${shownMb(storeMb(stack))} after`,
    ),
    finding(
      'I5: acknowledged events that are neither rows, repeats nor deleted',
      'events',
      kept.acknowledged > 0 ? Math.abs(kept.acknowledged - kept.accounted) : Number.NaN,
      0,
      `${kept.acknowledged} acknowledged, ${kept.accounted} accounted for`,
    ),
    finding(
      'I15: honest events that are not found, applied, once',
      'events',
      under.references.length > 0 ? kept.missing : Number.NaN,
      0,
      `of ${quiet.references.length + under.references.length}`,
    ),
  ];
}

const p99 = (times: readonly number[]): number => percentile(times, 0.99);
const shownTimes = (times: readonly number[]): string =>
  `p50 ${percentile(times, 0.5).toFixed(1)} p99 ${p99(times).toFixed(1)} ms (${times.length})`;
const shownMb = (mb: number | undefined): string => `${mb?.toFixed(1) ?? '?'} MB`;

const shownCounts = (counts: ReadonlyMap<string, number>): string =>
  Array.from(counts, ([name, count]) => `${name}: ${count}`)
    .toSorted()
    .join(', ');

function tenthsOf(samples: readonly number[]): string {
  const at = (tenth: number) => samples[Math.ceil((samples.length * tenth) / 10) - 1];
  return `${Array.from({ length: 10 }, (_, n) => at(n + 1)?.toFixed(1) ?? '?').join(' ')} MB`;
}

async function startAttackers(stack: Stack, waitedFor: string) {
  const answersFile = join(stack.folder, 'answers.json');
  const order: AttackOrder = {
    url: stack.url,
    greedyToken: GREEDY.secret,
    hangingToken: HANGING.secret,
    pollTokens: [GREEDY, ...POLLERS].map(({ secret }) => secret),
    waitedFor,
    transferInput: transferInput('made-by-the-attackers', ENDED_AT_ONCE),
    answersFile,
  };
  const child = await startChild(ATTACKERS, {
    execArgv: ['--no-warnings', '--import', LOADER],
    env: { ORDER: JSON.stringify(order) },
    folder: fileURLToPath(new URL('../..', import.meta.url)),
  });
  return {
    stop: () => child.stop(),
    /** How often they were answered what, after the stop; none if they crashed or had to be killed. */
    async answers(): Promise<ReadonlyMap<string, number>> {
      const text = await readFile(answersFile, 'utf8').catch(() => '{}');
      return new Map(Object.entries(JSON.parse(text) as Record<string, number>));
    },
  };
}

async function reconcile(stack: Stack, references: readonly string[]) {
  const { inbox } = stack.store;
  const settledBy = performance.now() + SETTLED_WITHIN_MS;
  let missing = 0;
  for (const reference of references) {
    const flowId = flowIdOfTransfer(reference);
    const settled = async () => {
      const rows = await inbox.list({ flowId, trusted: true });
      return rows.every(({ state }) => state !== 'waiting' && state !== 'delivered') && rows;
    };
    const withinMs = Math.max(0, settledBy - performance.now());
    const found = await until(`${reference} to be settled`, settled, withinMs).catch(() => []);
    if (found.length !== 1 || found[0]?.state !== 'applied') missing += 1;
  }
  // Only the sandbox's own events are still to come: polled until none has come for a while.
  return until(
    'the figures to stand still',
    async () => {
      const before = await countedEvents(stack);
      await sleep(STANDS_STILL_MS);
      const { acknowledged, dropped } = await countedEvents(stack);
      const rows = await inbox.list({ limit: 1_000_000, bodies: false });
      const accounted = rows.reduce((sum, { repeats }) => sum + 1 + repeats, dropped);
      return before.acknowledged === acknowledged && { acknowledged, accounted, dropped, missing };
    },
    SETTLED_WITHIN_MS,
  ).catch(() => ({ acknowledged: Number.NaN, accounted: Number.NaN, dropped: Number.NaN, missing }));
}

/** By the gateway's own count of its 200s, and of what it deleted. */
async function countedEvents(stack: Stack): Promise<{ readonly acknowledged: number; readonly dropped: number }> {
  const answer = await fetch(`${stack.url}/metrics`, { headers: { authorization: 'Bearer dev-token' } });
  const text = await answer.text();
  const lines = text.matchAll(/^towline_\w+_count\{[^}]*result="(?:stored|duplicate)"[^}]*\} (\d+)$/gm);
  return {
    acknowledged: [...lines].reduce((sum, [, count]) => sum + Number(count), 0),
    dropped: Number(/^towline_events_dropped_total (\d+)$/m.exec(text)?.[1]),
  };
}

const storeMb = ({ folder }: Stack): number => statSync(join(folder, 'store.db')).size / 1e6;

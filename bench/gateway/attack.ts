import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Benchmark } from '../benchmark.js';
import { percentile } from '../measure/statistics.js';
import type { Finding } from '../report/finding.js';
import { startChild } from '../setup/child.js';
import { createSender } from '../setup/http-load.js';
import { atPace } from '../setup/in-turns.js';
import { openStack, type Stack } from '../setup/stack.js';
import { flowIdOfTransfer, openTransfers, transferInput, webhook } from '../setup/transfers.js';
import { until } from '../setup/until.js';

const ATTACKERS = fileURLToPath(new URL('./attackers.ts', import.meta.url));
const LOADER = new URL('../../tools/typescript.mjs', import.meta.url).href;
const [GREEDY_TOKEN, HANGING_TOKEN] = ['greedy', 'hanging'].map((name) => `${name}-${randomBytes(16).toString('hex')}`);
/** The decimals are a wish to the sandbox: it ends at once. */
const ENDED_AT_ONCE = '1000.50';

/** Input of the attackers, who know only the gateway. */
export interface AttackOrder {
  readonly url: string;
  readonly greedyToken: string;
  readonly hangingToken: string;
  /** A flow that stays open. */
  readonly waitedFor: string;
  readonly transferInput: object;
  /** What they were answered is written there in the end: JSON, how often by what was done and the status. */
  readonly answersFile: string;
}

const PER_SECOND = 5;
/** Of the whole time, before the attack begins: what it is measured against. */
const QUIET_SHARE = 0.2;
const SAMPLED_EVERY_MS = 2_000;
/** Small, so that a short run fills it. */
const QUOTA_MB = 4;
/** Between two checks a gateway only counts for itself, and rows are in progress. */
const QUOTA_SLACK = 1.1;
const SETTLED_WITHIN_MS = 180_000;
const REPEATED_AFTER_MS = 200;
/** Of all webhooks together. */
const MOST_REPEATED = 1_000;

interface Honest {
  /** Webhook → its 200, ms. */
  readonly answered: readonly number[];
  /** Webhook → the end of its transfer, ms. */
  readonly ended: readonly number[];
  readonly references: readonly string[];
  /** Webhooks that were refused or cut off, and sent again. */
  readonly repeated: number;
  /** Transfers that could not be carried through, with why. */
  readonly lost: readonly string[];
}

/** @param minutes of load, the quiet part included */
export const createAttackBenchmark = (minutes: number): Benchmark => ({
  name: 'attack',
  about: `everything that attackers do beside honest transfers, for ${minutes} minutes (--minutes N); only when named`,
  onlyNamed: true,
  async run(say) {
    const stack = await openStack(say, {
      UNPROVEN_RATE_LIMIT: '',
      GATEWAY_RATE_LIMIT: '',
      UNPROVEN_DISK_MB: String(QUOTA_MB),
      TRUSTED_PROXIES: '127.0.0.1',
      GATEWAY_TOKENS: `dev:admin:dev-token,greedy:flows:${GREEDY_TOKEN},hanging:flows:${HANGING_TOKEN}`,
    });
    try {
      return await measure(stack, minutes, say);
    } finally {
      await stack.close();
    }
  },
});

async function measure(stack: Stack, minutes: number, say: (line: string) => void): Promise<readonly Finding[]> {
  const seconds = minutes * 60;
  await honest(stack, 30);
  say('quiet');
  const quiet = await honest(stack, Math.ceil(seconds * QUIET_SHARE));
  const [waitedFor = ''] = await openTransfers(stack, 1);
  say('attacked');
  const rssBefore = rssMb(stack);
  const [rss, disk]: [number[], number[]] = [[], []];
  const sampler = setInterval(() => {
    rss.push(rssMb(stack));
    stack.store.inbox.unprovenBytes().then(
      (bytes) => disk.push(bytes / 1e6),
      () => undefined,
    );
  }, SAMPLED_EVERY_MS);
  const attackers = await startAttackers(stack, waitedFor);
  const under = await honest(stack, Math.ceil(seconds * (1 - QUIET_SHARE)));
  const answers = (await attackers.stop()).toSorted(([a], [b]) => a.localeCompare(b));
  clearInterval(sampler);
  const kept = await reconcile(stack, [...quiet.references, ...under.references]);

  const third = Math.ceil(rss.length / 3);
  const p99 = (times: readonly number[]) => percentile(times, 0.99);
  const finding = (what: string, unit: Finding['unit'], measured: number, most: number, figures: string): Finding => ({
    budget: 'attack',
    what,
    limit: { bound: 'at most', value: most },
    unit,
    measured,
    figures,
  });
  const against = (a: readonly number[], b: readonly number[]) =>
    `quiet p50 ${percentile(a, 0.5).toFixed(1)} p99 ${p99(a).toFixed(1)} ms (${a.length}); attacked p50 ${percentile(b, 0.5).toFixed(1)} p99 ${p99(b).toFixed(1)} ms (${b.length})`;
  const findings = [
    finding(
      'honest webhook answered, p99 under attack against quiet',
      '×',
      p99(under.answered) / p99(quiet.answered),
      2,
      against(quiet.answered, under.answered),
    ),
    finding(
      'honest webhook to the end of its transfer, p99 under attack against quiet',
      '×',
      p99(under.ended) / p99(quiet.ended),
      2,
      `${against(quiet.ended, under.ended)}; ${under.repeated} webhooks were sent again`,
    ),
    finding('honest transfers that were not carried through', 'flows', under.lost.length, 0, under.lost[0] ?? ''),
    finding(
      'memory of the gateway: most in the last third of the attack against the first',
      '×',
      Math.max(...rss.slice(-third)) / Math.max(...rss.slice(0, third)),
      1.15,
      `before ${rssBefore.toFixed(0)}, at most ${Math.max(...rss).toFixed(0)}, in the end ${rss.at(-1)?.toFixed(0)} MB`,
    ),
    finding(
      'disk of events without proof',
      'MB',
      Math.max(...disk),
      QUOTA_MB * QUOTA_SLACK,
      `${kept.dropped} deleted; answers: ${answers.map(([name, count]) => `${name}: ${count}`).join(', ')}`,
    ),
    finding(
      'I5: acknowledged events that are neither rows, repeats nor deleted',
      'events',
      Math.abs(kept.acknowledged - kept.accounted),
      0,
      `${kept.acknowledged} acknowledged, ${kept.accounted} accounted for`,
    ),
    finding(
      'I15: honest events that are not found, applied, once',
      'events',
      kept.missing,
      0,
      `of ${under.ended.length + quiet.ended.length}`,
    ),
  ];
  process.stdout.write(
    `${JSON.stringify({ minutes, findings, answers: Object.fromEntries(answers), rssMb: rss, unprovenMb: disk })}\n`,
  );
  return findings;
}

/**
 * Transfers that wait for their last event, this many a second; each event is sent, answered, and ends its transfer.
 */
async function honest(stack: Stack, seconds: number): Promise<Honest> {
  const sender = createSender(stack.url);
  const [answered, ended, references, lost]: [number[], number[], string[], string[]] = [[], [], [], []];
  let repeated = 0;
  /** Like the service: an event that was not answered 200 is sent again. */
  const deliver = async (request: Buffer): Promise<void> => {
    for (;;) {
      try {
        return await sender.send(request);
      } catch (error) {
        repeated += 1;
        if (repeated > MOST_REPEATED) throw error;
        await sleep(REPEATED_AFTER_MS);
      }
    }
  };
  const one = async (): Promise<void> => {
    const [reference = ''] = await openTransfers(stack, 1);
    const request = webhook(stack, reference, 'COMPLETED');
    const startedMs = performance.now();
    const tookMs = () => performance.now() - startedMs;
    await Promise.all([
      deliver(request).then(() => answered.push(tookMs())),
      stack.client.workflow
        .getHandle(flowIdOfTransfer(reference))
        .result()
        .then(() => ended.push(tookMs())),
    ]);
    references.push(reference);
  };
  try {
    await atPace(Array.from({ length: seconds * PER_SECOND }), PER_SECOND, () =>
      one().catch((error: unknown) => void lost.push(String(error))),
    );
  } finally {
    sender.close();
  }
  return { answered, ended, references, repeated, lost };
}

async function startAttackers(stack: Stack, waitedFor: string) {
  const answersFile = join(stack.folder, 'answers.json');
  const order: AttackOrder = {
    url: stack.url,
    greedyToken: GREEDY_TOKEN ?? '',
    hangingToken: HANGING_TOKEN ?? '',
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
    async stop(): Promise<readonly [string, number][]> {
      await child.stop();
      return Object.entries(JSON.parse(readFileSync(answersFile, 'utf8')) as Record<string, number>);
    },
  };
}

async function reconcile(stack: Stack, references: readonly string[]) {
  const { inbox } = stack.store;
  let missing = 0;
  for (const reference of references) {
    const flowId = flowIdOfTransfer(reference);
    const row = () => inbox.list({ flowId, trusted: true });
    const found = await until(
      `${reference} to be settled`,
      async () => {
        const rows = await row();
        return rows.every(({ state }) => state !== 'waiting' && state !== 'delivered') && rows;
      },
      SETTLED_WITHIN_MS,
    );
    if (found.length !== 1 || found[0]?.state !== 'applied') missing += 1;
  }
  // Only the sandbox's own events are still to come: polled until two reads agree.
  let before = -1;
  return until(
    'the figures to stand still',
    async () => {
      const acknowledged = await acknowledgedEvents(stack);
      const { byState, repeats, dropped } = await inbox.counts();
      const rows = Object.values(byState).reduce((sum, count) => sum + count, 0);
      const accounted = rows + repeats + dropped;
      const stands = before === acknowledged;
      before = acknowledged;
      return stands && { acknowledged, accounted, dropped, missing };
    },
    SETTLED_WITHIN_MS,
  );
}

/** By the gateway's own count of its 200s. */
async function acknowledgedEvents(stack: Stack): Promise<number> {
  const answer = await fetch(`${stack.url}/metrics`, { headers: { authorization: 'Bearer dev-token' } });
  const lines = (await answer.text()).matchAll(
    /^towline_\w+_count\{[^}]*result="(?:stored|duplicate)"[^}]*\} (\d+)$/gm,
  );
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

function rssMb(stack: Stack): number {
  const status = readFileSync(`/proc/${stack.gatewayPid()}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024;
}

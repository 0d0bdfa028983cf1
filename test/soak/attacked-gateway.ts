import { deepStrictEqual, ok } from 'node:assert/strict';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { HEAP_IN_A_CONTAINER } from '../../bench/measure/memory.js';
import { reportSettlement } from '../../src/contract/bridge.js';
import { inTurns } from '../../src/in-turns.js';
import { ACCOUNT, SETTLEMENT_SECRET } from '../crash-matrix/fixed.js';
import { startKillable } from '../crash-matrix/killable-gateway.js';
import { endings, openRig, untilShown, type Rig } from '../crash-matrix/rig.js';
import { honestSender } from '../gateway/setup/hostile.js';
import { rawRequest } from '../gateway/setup/raw-request.js';
import { percentiles } from '../gateway/setup/report.js';
import { signed } from '../gateway/setup/sign.js';
import { settlement, transferInput } from '../harness/inputs.js';
import { newReference } from '../harness/references.js';
import { until } from '../harness/until.js';
import type { Soak } from './main.js';

const [PIPELINED_MS, REFUSED, REFUSED_PER_SECOND, ADDRESSES] = [4_000, 3_500, 350, 20_000];
const [POLLS_EACH, OPEN_EACH] = [1_250, 500];
const POLLERS = ['one', 'two', 'three', 'four'].map((name, n) => ({
  name,
  secret: `secret-of-poller-${name}-0123456789`,
  agent: new Agent({ localAddress: `127.0.0.${n + 4}` }),
}));
const [PROXY, PIPELINING, REFUSING] = ['127.0.0.9', '127.0.0.2', '127.0.0.3'];
const [MOST_GROWN_MB, ANSWERED_WITHIN_MS, DELIVERED_WITHIN_MS] = [100, 1_000, 2_000];
/** Fewer would say nothing. */
const LEAST_GENUINE = 20;
/** Events that a gateway has worked through before its memory is measured. */
const WARM_UP = 400;
const WRONG_SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const times = (count: number) => Array.from({ length: count }, (_, n) => n);

export default {
  name: 'attacked-gateway',
  says:
    `fault 57: ${PIPELINED_MS / 1_000} s of pipelined 64 KiB bodies, ${REFUSED_PER_SECOND} refused requests a second, ` +
    `${ADDRESSES} addresses of one /64, ${POLLERS.length * POLLS_EACH} long polls, with the limits of every gateway`,
  async run(report) {
    const rig = await openRig({ gateway: false, sandbox: { stepMs: 3_600_000 } });
    const gateway = await startKillable({
      GATEWAY_PORT: '0',
      TOWLINE_HOME: rig.folder,
      SERVICE_ACCOUNT: ACCOUNT,
      SETTLEMENT_SECRETS: SETTLEMENT_SECRET,
      TEMPORAL_ADDRESS: rig.temporalAddress,
      TEST_TASK_QUEUE: rig.taskQueue,
      TRUSTED_PROXIES: PROXY,
      GATEWAY_TOKENS: POLLERS.map(({ name, secret }) => `${name}:flows+viewer:${secret}`).join(','),
      LOG_LEVEL: 'silent',
      NODE_OPTIONS: HEAP_IN_A_CONTAINER,
    });
    try {
      await rig.worker();
      const { workflowId } = await rig.start(transferInput(newReference('waited-for')));
      const attacks = attacksOn(gateway.url);
      const sender = honestSender(gateway.url);
      await inTurns(times(WARM_UP), 10, () => sender.honest());
      sender.close();
      for (const _ of times(10)) await genuine(rig, gateway.url);
      const before = await gateway.measure();
      const shown = async (what: string) => {
        const { rssMb, peakMb } = await gateway.measure();
        report(`${what}; memory ${rssMb.toFixed(0)} MB, at most ${peakMb.toFixed(0)} MB`);
      };
      await shown('before the attacks');
      const over = new AbortController();
      const took = untilOver(over.signal, () => genuine(rig, gateway.url));
      took.catch(() => undefined);
      try {
        await shown(`${await attacks.pipeline()} requests with 64 KiB were pipelined`);
        await shown(`${REFUSED} requests were refused: ${await attacks.refused()}`);
        await shown(`of ${ADDRESSES} addresses of one /64: ${await attacks.oneNetwork()}`);
        await shown(`${await attacks.poll(workflowId)} long polls are open, as many as may be`);
      } finally {
        over.abort();
      }
      const [answered, delivered] = [(await took).map(([ms]) => ms), (await took).map(([, ms]) => ms)];
      const after = await gateway.measure();
      const grownMb = after.peakMb - before.peakMb;
      report(
        `memory + ${grownMb.toFixed(0)} MB; ${answered.length} genuine events: answered p99 ` +
          `${percentiles(answered).p99} ms, delivered p99 ${percentiles(delivered).p99} ms`,
      );
      ok(answered.length >= LEAST_GENUINE, `only ${answered.length} genuine events`);
      ok(grownMb <= MOST_GROWN_MB, `memory + ${grownMb.toFixed(0)} MB`);
      ok(Math.max(...answered) <= ANSWERED_WITHIN_MS, `answered after ${Math.max(...answered)} ms`);
      ok(Math.max(...delivered) <= DELIVERED_WITHIN_MS, `delivered after ${Math.max(...delivered)} ms`);
    } finally {
      await gateway.kill();
      await rig.close();
    }
  },
} satisfies Soak;

/** A transfer that a signed event ends. @returns ms until the event was answered, and until it was delivered */
async function genuine(rig: Rig, url: string): Promise<readonly [number, number]> {
  const reference = newReference('genuine');
  const handle = await rig.start(transferInput(reference));
  await untilShown([handle], 'accepted', ({ view }) => view.stage === 'tracking');
  const body = JSON.stringify(settlement(reference, 'COMPLETED'));
  const headers = signed(SETTLEMENT_SECRET, body);
  const sentAtMs = performance.now();
  deepStrictEqual((await rawRequest(url, reportSettlement.path, body, headers)).status, 200);
  const answeredMs = performance.now() - sentAtMs;
  await until('its delivery', async () => {
    const rows = await rig.store.inbox.list({ flowId: handle.workflowId, trusted: true });
    return rows.length === 1 && rows[0]?.state !== 'waiting';
  });
  const deliveredMs = performance.now() - sentAtMs;
  deepStrictEqual((await endings([handle]))[0]?.view.state, 'completed');
  return [answeredMs, deliveredMs];
}

async function untilOver<T>(over: AbortSignal, work: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  while (!over.aborted) results.push(await work());
  return results;
}

function attacksOn(url: string) {
  const { hostname, port } = new URL(url);
  const event = (n: number) => JSON.stringify(settlement(newReference('forged'), 'COMPLETED', { n }));

  return {
    /** Keeps as many open as the limits allow. @returns how many */
    async poll(flowId: string): Promise<number> {
      const statuses: number[] = [];
      for (const { secret, agent } of POLLERS) {
        for (const n of times(POLLS_EACH)) {
          const headers = { authorization: `Bearer ${secret}` };
          // Those that are open in the end are cut with the gateway.
          void rawRequest(url, `/flows/${flowId}/wait?timeoutSeconds=300`, '', headers, agent, 'GET').then(
            ({ status }) => statuses.push(status),
            () => undefined,
          );
          // More than wait to be accepted at a time, and the kernel forgets some.
          if (n % 100 === 99) await rawRequest(url, '/healthz', '', {}, false, 'GET');
        }
      }
      const tooMany = POLLERS.length * (POLLS_EACH - OPEN_EACH);
      await until('those too many to be refused', () => statuses.length >= tooMany);
      deepStrictEqual(new Set(statuses), new Set([429]));
      return POLLERS.length * POLLS_EACH - statuses.length;
    },

    /** On one connection at a time: a cut one is replaced. @returns how many requests were written */
    async pipeline(): Promise<number> {
      const body = JSON.stringify({ notes: 'x'.repeat(64 * 1_024 - '{"notes":""}'.length) });
      const request =
        `POST ${reportSettlement.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`;
      const endsAtMs = performance.now() + PIPELINED_MS;
      let written = 0;
      while (performance.now() < endsAtMs) {
        await new Promise((resolve) => {
          const socket = connect({ host: hostname, port: Number(port), localAddress: PIPELINING });
          const write = (): void => {
            written += 1;
            socket.write(request, (error) => {
              if (!error && performance.now() < endsAtMs) write();
            });
          };
          const end = setTimeout(() => socket.destroy(), endsAtMs - performance.now());
          socket.on('connect', write).resume();
          socket
            .on('error', () => undefined)
            .on('close', () => {
              clearTimeout(end);
              resolve(undefined);
            });
        });
      }
      return written;
    },

    /** @returns how often which status */
    async refused(): Promise<string> {
      const agent = new Agent({ keepAlive: true, localAddress: REFUSING, maxSockets: 200 });
      const begunAtMs = performance.now();
      const statuses = await Promise.all(
        times(REFUSED).map(async (n) => {
          await new Promise((resolve) => {
            setTimeout(resolve, begunAtMs + (n * 1_000) / REFUSED_PER_SECOND - performance.now());
          });
          const body = event(n);
          return (await rawRequest(url, reportSettlement.path, body, signed(WRONG_SECRET, body), agent)).status;
        }),
      );
      agent.destroy();
      deepStrictEqual(new Set(statuses), new Set([401, 429]));
      return counted(statuses);
    },

    async oneNetwork(): Promise<string> {
      const agent = new Agent({ keepAlive: true, localAddress: PROXY });
      const begunAtMs = performance.now();
      const statuses = await inTurns(times(ADDRESSES), 50, async (n) => {
        const address = `2001:db8:1:2:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::1`;
        return (await rawRequest(url, reportSettlement.path, event(n), { 'x-forwarded-for': address }, agent)).status;
      });
      agent.destroy();
      const mayBe = 100 + (10 * (performance.now() - begunAtMs)) / 1_000;
      const taken = statuses.filter((status) => status === 200).length;
      deepStrictEqual(new Set(statuses), new Set([200, 429]));
      ok(taken <= mayBe, `${taken} of one /64 were taken, where ${mayBe} may be`);
      return counted(statuses);
    },
  };
}

const counted = (statuses: readonly number[]): string =>
  [...new Set(statuses)].map((status) => `${status}: ${statuses.filter((one) => one === status).length}`).join(', ');

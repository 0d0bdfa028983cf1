import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { anyFreePort } from '../../src/dev-server/free-port.js';
import type { Benchmark } from '../benchmark.js';
import { cpuPer, stopwatch } from '../measure/cpu.js';
import { median } from '../measure/statistics.js';
import { startChild } from '../setup/child.js';
import { requestBytes, sendAll } from '../setup/http-load.js';

const MAIN = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const TOKEN = 'token-of-the-benchmark';
const AT_ONCE = 32;
const REQUESTS = 4_000;
const ROUNDS = 3;
const SEND = '/api/v3/onramp/crypto';

export const sandbox: Benchmark = {
  name: 'sandbox',
  about: 'P11: requests per second that the sandbox answers, its state on disk',
  async run() {
    const folder = await mkdtemp(join(tmpdir(), 'towline-bench-'));
    const port = await anyFreePort();
    const env = { TOWLINE_HOME: folder, SANDBOX_PORT: String(port), SERVICE_TOKEN: TOKEN, LOG_LEVEL: 'warn' };
    const child = await startChild(MAIN, { args: ['sandbox'], env, folder });
    const url = `http://127.0.0.1:${port}`;
    const headers = { authorization: `Bearer ${TOKEN}` };
    /** A send of crypto, which the ledger keeps on disk, and then its status lookup. */
    const round = async (): Promise<{ perSecond: number; cpu: string }> => {
      const references = Array.from({ length: REQUESTS / 2 }, () => `bench-${randomUUID()}`);
      const body = { receiverAddress: '0xabc', chain: 'CELO', token: 'CUSD', cryptoAmount: 0.01 };
      const sends = references.map((referenceId) =>
        requestBytes(url, SEND, headers, JSON.stringify({ ...body, referenceId })),
      );
      const asks = references.map((reference) => requestBytes(url, `${SEND}/${reference}`, headers));
      const cpu = stopwatch({ sandbox: child.pid });
      const startedMs = performance.now();
      await sendAll(url, sends, AT_ONCE);
      await sendAll(url, asks, AT_ONCE);
      const seconds = (performance.now() - startedMs) / 1_000;
      return { perSecond: REQUESTS / seconds, cpu: cpuPer(REQUESTS, cpu()) };
    };
    try {
      await round();
      const rounds = [];
      for (let done = 0; done < ROUNDS; done += 1) rounds.push(await round());
      return [
        {
          budget: 'P11',
          what: `requests per second, half of them sends and half lookups, ${AT_ONCE} at a time`,
          limit: { bound: 'at least', value: 2_000 },
          unit: '/s',
          measured: median(rounds.map(({ perSecond }) => perSecond)),
          figures: `CPU ms a request: ${rounds[1]?.cpu}`,
        },
      ];
    } finally {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

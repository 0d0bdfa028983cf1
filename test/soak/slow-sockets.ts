import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostileGatewayEnv, startKillable } from '../crash-matrix/killable-gateway.js';
import { honestSender, openSlowSockets, sendHostileBodies, warmUp } from '../gateway/setup/hostile.js';
import { percentiles } from '../gateway/setup/report.js';

const [EACH, SOCKETS, HONEST] = [40, 2_000, 1_000];
const [MOST_GROWN_MB, STALL_P99_MS, HONEST_P99_MS] = [50, 100, 500];

export default {
  name: 'slow-sockets',
  says: `faults 41 and 42: ${EACH} of each hostile body, then ${SOCKETS} slow sockets beside ${HONEST} honest events`,
  async run(report: (line: string) => void): Promise<void> {
    const home = await mkdtemp(join(tmpdir(), 'towline-hostile-'));
    const gateway = await startKillable(hostileGatewayEnv(home));
    const sender = honestSender(gateway.url);
    try {
      await warmUp(gateway.url, sender);
      const before = await gateway.measure();
      const { sent, wrong, honest } = await sendHostileBodies(gateway.url, sender, EACH);
      const after = await gateway.measure();
      const grownMb = Math.max(0, after.peakMb - before.peakMb);
      report(
        `${sent} bodies: wrong answers ${wrong.length}, memory + ${grownMb.toFixed(0)} MB, ` +
          `event loop stall p99 ${after.stallP99Ms.toFixed(0)} ms, max ${after.stallMaxMs.toFixed(0)} ms`,
      );
      const slow = await openSlowSockets(gateway.url, sender, { sockets: SOCKETS, honest: HONEST });
      const { p50, p99 } = percentiles(slow.answers.map(({ tookMs }) => tookMs));
      report(`${slow.opened} slow sockets, all cut: ${HONEST} honest events, p50 ${p50} ms, p99 ${p99} ms`);
      const refused = [...honest, ...slow.answers.map(({ status }) => status)].filter((status) => status !== 200);
      const isSlow = after.stallP99Ms > STALL_P99_MS || p99 > HONEST_P99_MS;
      if (wrong.length > 0 || refused.length > 0 || grownMb > MOST_GROWN_MB || slow.opened !== SOCKETS || isSlow) {
        const { stallP99Ms } = after;
        throw new Error(JSON.stringify({ wrong, refused, grownMb, stallP99Ms, honestP99Ms: p99, opened: slow.opened }));
      }
    } finally {
      sender.close();
      await gateway.kill();
      await rm(home, { recursive: true, force: true });
    }
  },
};

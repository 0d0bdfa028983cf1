import { explore } from './explore.js';
import { lookFor, PLANTS } from './plants.js';
import { budgetOf, FOR_PLANTS, nameOf, settingOf } from './spaces.js';
const kind = process.argv[2]!;
const skip = process.argv.slice(3);
const spaces = FOR_PLANTS.filter((s) => s.kind === kind && !skip.includes(nameOf(s)));
const baseline = spaces.map((s) => {
  const f = explore(settingOf(s), budgetOf(s), 3_000_000);
  console.log(nameOf(s), f.states, f.cpuSeconds, f.violation);
  return { seen: [...f.seen], states: f.states };
});
const general = process.env['ALL'] === '1';
for (const p of PLANTS) {
  const w = p.book.without;
  if (w === undefined) continue;
  const idle = baseline.every((b) => !b.seen.includes(`rule ${w}`));
  if (idle) continue;
  const isOwn = PLANTS.indexOf(p) > PLANTS.findIndex((x) => x.name === 'without order-carry-out');
  if (!general && !isOwn) continue;
  const t = Date.now();
  const v = lookFor(p, spaces, baseline);
  console.log(
    p.name.padEnd(32),
    v.found,
    v.found === 'violation' ? v.space + ': ' + v.says : v.found === 'unreached' ? v.what.join(', ') : '',
    `${Date.now() - t} ms`,
  );
}

import { KILLED, latenciesOf, recoveriesOf } from './figures.js';
import { judgementOf, textOf, type Run } from './report.js';

/** One page with plots; no script, nothing from elsewhere. */
export function htmlOf(run: Run): string {
  const { calm, chaos } = latenciesOf(run);
  const figures = [
    histogram('From start to end, without faults (s)', calm),
    histogram('From start to end, with faults (s)', chaos),
    ...KILLED.map((who) => histogram(`Recovery after the kill of a ${who} (s)`, recoveriesOf(run, who))),
    bars('Endings', run.verdict.states),
    bars('How often a reference was executed', run.verdict.executions),
    bars('Faults of the service', run.verdict.injected),
  ];
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Chaos: seed ${run.seed}</title>
<style>body{font:14px system-ui;margin:2em;max-width:70em}pre{background:#f4f4f4;padding:1em;overflow:auto}
figure{display:inline-block;margin:1em}figcaption{font-weight:600}rect{fill:#3a6ea5}text{font:11px system-ui}</style>
<h1>Chaos: ${judgementOf(run)}</h1><pre>${escaped(textOf(run))}</pre>${figures.join('')}</html>\n`;
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const BINS = 20;

function histogram(title: string, valuesMs: readonly number[]): string {
  const most = Math.max(1, ...valuesMs) / 1_000;
  const bins: Record<string, number> = {};
  for (let bin = 0; bin < BINS; bin += 1) bins[((most * (bin + 1)) / BINS).toFixed(1)] = 0;
  const edges = Object.keys(bins);
  for (const ms of valuesMs) {
    const edge = edges[Math.min(edges.length - 1, Math.floor((ms / 1_000 / most) * edges.length))];
    if (edge !== undefined) bins[edge] = (bins[edge] ?? 0) + 1;
  }
  return bars(title, bins);
}

const [ROW, LABEL, WIDTH] = [16, 150, 260];

function bars(title: string, values: Readonly<Record<string, number>>): string {
  const entries = Object.entries(values);
  const most = Math.max(1, ...entries.map(([, value]) => value));
  const rows = entries.map(([label, value], index) => {
    const y = index * ROW;
    const width = ((value / most) * WIDTH).toFixed(1);
    return `<text x="${LABEL - 6}" y="${y + 12}" text-anchor="end">${escaped(label)}</text><rect x="${LABEL}" y="${y + 2}" width="${width}" height="${ROW - 4}"/><text x="${LABEL + Number(width) + 4}" y="${y + 12}">${value}</text>`;
  });
  const height = Math.max(1, entries.length) * ROW;
  return `<figure><figcaption>${escaped(title)}</figcaption><svg width="${LABEL + WIDTH + 60}" height="${height}" role="img" aria-label="${escaped(title)}">${rows.join('')}</svg></figure>`;
}

import { isMet, type Finding } from './finding.js';

const WIDTH = 720;
const ROW = 26;
const TOP = 44;
const LABELS = 330;
const BAR = 250;

/** Ratios and counts against their limit, as bars: the line is the budget. An SVG that can be read on dark and on light. */
export function pictureOf(findings: readonly Finding[]): string {
  const shown = findings.filter(({ measured }) => Number.isFinite(measured));
  const height = TOP + shown.length * ROW + 14;
  const limitAt = LABELS + BAR / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="Budgets and what was measured">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#6e7781}.met{fill:#2da44e}.missed{fill:#cf222e}.limit{stroke:#6e7781;stroke-dasharray:3 3}</style>',
    `<text x="8" y="20">Measured against its budget, which is the dashed line</text>`,
    ...shown.map((finding, at) => rowOf(finding, TOP + at * ROW)),
    `<line class="limit" x1="${limitAt}" x2="${limitAt}" y1="${TOP - 12}" y2="${height - 10}"/>`,
    '</svg>',
    '',
  ].join('\n');
}

const LONGEST_LABEL = 52;

function rowOf(finding: Finding, y: number): string {
  const { budget, what, limit, unit, measured } = finding;
  const label = what.length > LONGEST_LABEL ? `${what.slice(0, LONGEST_LABEL)}…` : what;
  // Twice the budget fills the row.
  const share = limit.value === 0 ? Number(measured > 0) : Math.min(2, measured / limit.value);
  const figure = Number.isInteger(measured) ? String(measured) : measured.toFixed(measured < 10 ? 2 : 1);
  return [
    `<text x="8" y="${y + 4}">${escaped(`${budget}  ${label}`)}</text>`,
    `<rect class="${isMet(finding) ? 'met' : 'missed'}" x="${LABELS}" y="${y - 7}" width="${((share * BAR) / 2).toFixed(1)}" height="14" rx="3"/>`,
    `<text x="${LABELS + BAR + 12}" y="${y + 4}">${escaped(`${figure} ${unit} (${limit.bound === 'at least' ? '≥' : '≤'} ${limit.value})`)}</text>`,
  ].join('');
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

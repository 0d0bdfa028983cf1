import { isMet, type Finding } from './finding.js';

const HEAD = ['budget', 'what', 'limit', 'measured', '', 'figures'];

/** A table for terminals that is one in Markdown, too. */
export function tableOf(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => {
    const { budget, what, limit, unit, measured, figures } = finding;
    const bound = `${limit.bound === 'at least' ? '≥' : '≤'} ${limit.value} ${unit}`;
    return [budget, what, bound, `${shown(measured)} ${unit}`, isMet(finding) ? 'met' : 'MISSED', figures];
  });
  const widths = HEAD.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(HEAD), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n');
}

const shown = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1));

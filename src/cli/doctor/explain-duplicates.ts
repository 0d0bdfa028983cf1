import type { Settings } from '../../config/index.js';
import { type Finding, good, note } from './finding.js';

const HOW_TO_FIND_OUT =
  'How to find out: ask the service, or send one small request twice under one reference in its test environment. The ' +
  'first answer again: same-result. 400, 409 or DUPLICATE: rejected. Executed twice, or not sure: unknown.';

/** DUPLICATE_REFERENCE: what we may do with a request whose outcome is unknown. */
export function explainDuplicates({ duplicateReference }: Pick<Settings, 'duplicateReference'>): readonly Finding[] {
  const rules = Object.entries(duplicateReference);
  const unknown = rules.filter(([, rule]) => rule === 'unknown').map(([operation]) => operation);
  const known = rules.filter(([, rule]) => rule !== 'unknown').map(([operation, rule]) => `${operation}=${rule}`);
  const findings: Finding[] = [];
  if (known.length > 0) {
    findings.push(
      good('DUPLICATE_REFERENCE', `${known.join(', ')}: sent again by itself where a lookup finds nothing`),
    );
  }
  if (unknown.length > 0) {
    const what = unknown.length === rules.length ? 'every operation' : unknown.join(', ');
    findings.push(
      note(
        'DUPLICATE_REFERENCE',
        `"unknown" for ${what}: where an answer is lost and nothing proves what became of it, the flow parks, and a ` +
          `person decides whether it is sent again. ${HOW_TO_FIND_OUT}`,
      ),
    );
  }
  return findings;
}

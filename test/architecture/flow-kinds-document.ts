import { flowOf } from '../../src/flows/index.js';
import { defaultDeadlineSeconds } from '../../src/protocol/vocabulary.js';
import { KINDS, type NamedKind } from '../harness/kinds.js';
import { allFiles } from './sources.js';

const TEXT = {
  before: `# Flow kinds

For every kind that moves money: its POST is claimed before it is sent, and executed at most once per reference (except after a
person's \`send-again\`). While the outcome is unknown the flow never ends as failed, but parks: as \`unknown_outcome\` if no
lookup can show it, as \`not_found_at_service\` if the lookup found nothing, as \`could_not_ask\` if it could not be asked, and as
\`duplicate_mismatch\` if the service has something else under the reference. It can be cancelled until something was sent. In
addition:
`,
  after: `
Contradictory proofs park as \`conflict\`, facts that do not match as \`event_mismatch\`. If a kind has a lookup, the flow confirms
every event by a lookup first. Deadlines are \`deadlineSeconds\` of the input. [A test runs every
example](../test/packaging/example-inputs.test.ts), and another the [432 cells of faults](retry-safety.md) for every operation that
moves money.

Each row comes from \`docs\` in \`src/flows/<kind>.ts\`. [test/architecture/flow-kinds.test.ts](../test/architecture/flow-kinds.test.ts)
computes this page, and fails if it differs; \`WRITE_DOCS=1\` writes it.
`,
};

const HEAD = ['kind', 'story', 'how it learns its end', 'guaranteed', 'parks', 'shown by'];

/** The page with a row for each kind. */
export function flowKindsDocument(): string {
  const rows = [HEAD, HEAD.map(() => '---'), ...KINDS.map(rowOf)];
  return [TEXT.before, ...rows.map(line), TEXT.after].join('\n');
}

const line = (cells: readonly string[]) => (cells[0] === '---' ? `|${cells.join('|')}|` : `| ${cells.join(' | ')} |`);

function rowOf(one: NamedKind): readonly string[] {
  const { kind } = one;
  const { story, learns, guaranteed, atDeadline, parks } = flowOf(kind).docs;
  const overdue = `after ${inWords(defaultDeadlineSeconds(kind))}: ${atDeadline.map((reason) => `\`${reason}\``).join(', ')}`;
  const shownBy = testsOf(one).map((path) => `[${nameOf(path)}](../${path})`);
  const why = parks === undefined ? overdue : `${parks}; ${overdue}`;
  return [`[\`${kind}\`](../examples/${kind}.json)`, story, learns, guaranteed, why, shownBy.join(', ')];
}

/** Its like's, and those that are called after it. */
function testsOf({ kind, like }: NamedKind): readonly string[] {
  const called = new RegExp(`^test/(flows|workflows)/${kind}[^/]*\\.test\\.ts$`);
  return allFiles()
    .filter((path) => path === `test/flows/${like}.test.ts` || called.test(path))
    .toSorted();
}

const nameOf = (path: string) => path.replace(/^.*\//, '').replace('.test.ts', '');

const HOUR_SECONDS = 3_600;

function inWords(seconds: number): string {
  const hours = seconds / HOUR_SECONDS;
  if (hours === 1) return 'an hour';
  return hours <= 48 ? `${hours} hours` : `${hours / 24} days`;
}

import { operationNames, operations } from '../../../src/contract/index.js';
import type { CellResult } from './cell.js';
import { REPEAT_MODES } from './faults.js';

const HEAD = `# Retry safety

How a flow ends if one POST that moves money goes wrong: for every such operation of the contract, every fault, and every way
in which the service may treat a repeated reference. Each cell is a flow that ran against the sandbox, with the number of
executions at the service in the end. [test/flows/retry-safety.test.ts](../test/flows/retry-safety.test.ts) computes this page, and
fails if it differs; \`WRITE_DOCS=1\` writes it.

- **completed, 1**: the flow ended as completed, and the service executed once.
- **parked: reason, 0**: it waits for a person ([parked flows](parked-flows.md)), and the service executed nothing.
- **failed, 0**: the service refused it in its own words, and executed nothing.

A flow parks in two cases. The service refused to pay an invoice, which it shows as PENDING before a payment as well as during
one: a refusal alone does not show that no copy of the request was executed. Or the request may have been sent, the service
never executed it, and nothing says so in the service's own words ([what an answer means](decisions.md#what-an-answer-means)). Towline cannot distinguish that from a request
that was executed, so it sends again only if [\`DUPLICATE_REFERENCE\`](settings.md#the-service) says that a repeat is safe. The columns are what the service does with a repeat; the setting is \`same-result\` for the first, \`rejected\` for
the next two, and \`unknown\`, its default, for the last. A card is forgotten once it may have been sent, so a card deposit
is never sent again. In these runs operations with a status lookup get no webhook; those without one get their callback.
`;

/** The page with the whole matrix, one row for each operation and fault. */
export function documentOf(results: readonly CellResult[]): string {
  const sections = operationNames
    .filter((name) => operations[name].effect === 'money')
    .map((name) => sectionOf(name, results.filter(({ operation }) => operation === name))); // prettier-ignore
  return [HEAD, ...sections].join('\n');
}

function sectionOf(name: string, results: readonly CellResult[]): string {
  const modes = REPEAT_MODES.map(({ repeatMode }) => repeatMode);
  const faults = [...new Set(results.map(({ fault }) => fault.name))];
  const rows = faults.map((fault) => {
    const cells = modes.map((mode) => textOf(results, fault, mode));
    return `| ${[fault, ...cells].join(' | ')} |`;
  });
  const head = `| fault | ${modes.map((mode) => `\`${mode}\``).join(' | ')} |`;
  return [`## \`${name}\``, '', head, `|${'---|'.repeat(modes.length + 1)}`, ...rows, ''].join('\n');
}

function textOf(results: readonly CellResult[], fault: string, mode: string): string {
  const found = results.find((cell) => cell.fault.name === fault && cell.mode.repeatMode === mode);
  if (found === undefined) return '–';
  const { state, reason, executions } = found;
  return reason === null ? `${state}, ${executions}` : `${state}: ${reason}, ${executions}`;
}

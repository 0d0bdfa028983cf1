import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../run-program.js';

export interface FuzzOrder {
  readonly schemathesis: string;
  /** An OpenAPI document, and the URL of its interface. */
  readonly document: object;
  readonly url: string;
  /** Name of its security scheme, and a token for it. */
  readonly scheme: string;
  readonly token: string;
  /** Cases of the fuzzing phase, for each operation. The other phases have as many as the schemas have corners. */
  readonly maxExamples: number;
  /** Values that exist, by path parameter: half of the cases have one of them, and one case of each operation the first. */
  readonly known: Readonly<Record<string, readonly string[]>>;
  /** Further settings, as TOML. */
  readonly settings?: string;
}

interface Parameter {
  readonly in: string;
  readonly name: string;
  example?: string;
}

export interface FuzzReport {
  readonly complete: boolean;
  /** In seconds. */
  readonly running_time: number;
  readonly operations: { readonly selected: number; readonly tested: number };
  readonly test_cases: { readonly generated: number };
  readonly failures: readonly { readonly title: string; readonly operations: readonly string[] }[];
  readonly errors: readonly unknown[];
  /** How often each operation (`GET /path`) accepted a valid request, by phase. */
  readonly valid_rates: Readonly<Record<string, Readonly<Record<string, { readonly accepted: number }>>>>;
}

/**
 * Runs the public fuzzer over every operation of a document: its examples, the corners of its schemas, and random
 * requests, both valid and broken. The same cases each time.
 */
export async function fuzz(order: FuzzOrder): Promise<{ report: FuzzReport; said: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'towline-fuzz-'));
  try {
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(withExamples(order)));
    await writeFile(join(folder, 'schemathesis.toml'), settingsOf(order));
    const args = ['run', 'openapi.json', '--phases', 'examples,coverage,fuzzing', '--no-color'];
    const { all } = await runProgram(order.schemathesis, args, { cwd: folder });
    const report = await readFile(join(folder, 'report.json'), 'utf8').catch(() => {
      throw new Error(`schemathesis has no report:\n${all}`);
    });
    return { report: JSON.parse(report) as FuzzReport, said: all };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Known values are also in the document: the phase of examples uses them without chance. */
function withExamples({ document, known }: FuzzOrder): object {
  const copy = structuredClone(document) as { paths: Record<string, Record<string, { parameters?: Parameter[] }>> };
  const parameters = Object.values(copy.paths).flatMap((path) =>
    Object.values(path).flatMap((operation) => operation.parameters ?? []),
  );
  for (const parameter of parameters) {
    const [value] = (parameter.in === 'path' ? known[parameter.name] : undefined) ?? [];
    if (value !== undefined) parameter.example = value;
  }
  return copy;
}

/**
 * One worker: with two threads, the first import of a module may fail in one while the other compiles (Python 3.11:
 * "recursion depth mismatch"). Two checks are off: our own rules are stricter than a schema can express (phone numbers,
 * decimals, one receiver), and an unknown method is an unknown path here (404).
 */
const settingsOf = ({ url, scheme, token, maxExamples, known, settings = '' }: FuzzOrder): string => `
base-url = "${url}"
workers = 1
continue-on-failure = true
warnings = false

[generation]
max-examples = ${maxExamples}
deterministic = true
database = "none"

[auth.openapi.${scheme}]
bearer = "${token}"

[reports.json]
enabled = true
path = "report.json"

[checks]
positive_data_acceptance.enabled = false
unsupported_method.enabled = false

[phases.coverage]
unexpected-methods = []

${Object.entries(known)
  .map(([name, values]) => `[dictionaries.${name}]\nvalues = ${JSON.stringify(values)}\n`)
  .join('\n')}
[parameters]
${Object.keys(known)
  .map((name) => `"path.${name}" = { dictionary = "${name}", probability = 0.5 }`)
  .join('\n')}

${settings}
`;

/** Operations that accepted no valid request: their answers to one were not seen. */
export const neverTaken = ({ valid_rates }: FuzzReport): readonly string[] =>
  Object.entries(valid_rates)
    .filter(([, phases]) => Object.values(phases).every(({ accepted }) => accepted === 0))
    .map(([operation]) => operation)
    .toSorted();

export const summaryOf = ({ operations, test_cases, running_time }: FuzzReport): string =>
  `${operations.tested} operations, ${test_cases.generated} cases in ${running_time.toFixed(0)} s`;

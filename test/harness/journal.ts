import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/*
 * A driver's requests to a system, and the answers, in a file of lines that are only appended: one before each call,
 * one after it. A request is recorded even if its answer never comes.
 */

interface DriverRequest {
  /** Target: `gateway`, `sandbox`, or another name that the driver uses. */
  readonly of: string;
  readonly method: string;
  readonly path: string;
  /** The body as it is sent. */
  readonly body?: string;
}

interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** A state that a flow may rest in, and the fault that the driver injected for it. */
export interface Expectation {
  readonly flowId: string;
  readonly state: string;
  readonly because: string;
}

export interface Call extends DriverRequest {
  /** Time of the request, ISO 8601. */
  readonly at: string;
  /** Undefined while there is none, and for good if the call failed. */
  readonly answer?: Answered;
}

export interface Journal {
  readonly path: string;
  /** Makes the call between its two lines. Rejects as it does. */
  write<T extends Answered>(request: DriverRequest, call: () => Promise<T>): Promise<T>;
  expect(expectation: Expectation): void;
  close(): void;
}

export function openJournal(path: string): Journal {
  const file = openSync(path, 'a', 0o600);
  let count = 0;
  const append = (line: object) => void writeSync(file, `${JSON.stringify(line)}\n`);
  return {
    path,
    async write(request, call) {
      count += 1;
      const n = count;
      append({ n, at: new Date().toISOString(), request });
      try {
        const answer = await call();
        append({ n, at: new Date().toISOString(), answer: { status: answer.status, body: answer.body } });
        return answer;
      } catch (error) {
        append({ n, at: new Date().toISOString(), failed: String(error) });
        throw error;
      }
    },
    expect: (expectation) => append({ at: new Date().toISOString(), expectation }),
    close: () => closeSync(file),
  };
}

/** Calls in the order of their requests. An incomplete last line is left out. */
export function readJournal(path: string): { calls: readonly Call[]; expectations: readonly Expectation[] } {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  const calls = new Map<number, Call>();
  const expectations: Expectation[] = [];
  for (const line of lines) {
    const { n = 0, at, request, answer, expectation } = JSON.parse(line) as Line;
    if (expectation !== undefined) expectations.push(expectation);
    if (request !== undefined) calls.set(n, { ...request, at });
    const call = calls.get(n);
    if (call !== undefined && answer !== undefined) calls.set(n, { ...call, answer });
  }
  return { calls: [...calls.values()], expectations };
}

interface Line {
  readonly n?: number;
  readonly at: string;
  readonly request?: DriverRequest;
  readonly answer?: Answered;
  readonly expectation?: Expectation;
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { operations } from '../../../src/contract/index.js';
import { startSandbox } from '../../../src/sandbox/sandbox.js';
import { serviceDocument } from '../../contract/service-document.js';
import { publicTools } from './python.js';
import { fuzz, neverTaken, summaryOf } from './schemathesis.js';

const tools = await publicTools();
const onlyWithTools = tools === undefined ? describe.skip : describe;
const TOKEN = 'sandbox-token';
const REFERENCE = 'fuzzed-1';

/** One transfer of each kind, so that what is read by a reference is there from the first case on. */
async function beginTransfers(url: string): Promise<void> {
  for (const [name, operation] of Object.entries(operations)) {
    if (operation.effect !== 'money') continue;
    const response = await fetch(url + operation.path, {
      method: operation.method,
      body: JSON.stringify({ ...operation.example, [operation.reference]: REFERENCE }),
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    });
    expect({ name, status: response.status }).toEqual({ name, status: 200 });
  }
}

onlyWithTools('schemathesis against the sandbox', () => {
  it('finds no server error, and no answer that the contract does not describe', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'towline-fuzz-'));
    const errors: unknown[] = [];
    const logger = {
      info: () => {},
      warn: () => {},
      debug: () => {},
      error: (detail: object) => void errors.push(detail),
    };
    const sandbox = await startSandbox({ dbPath: join(folder, 'sandbox.db'), token: TOKEN, stepMs: 50, logger });
    // Callback URLs are made up, too: nothing may be sent there.
    const mute = { method: 'POST', body: '{"drop": 1}', headers: { 'content-type': 'application/json' } };
    expect((await fetch(`${sandbox.url}/_sandbox/adversary`, mute)).status).toBe(200);
    await beginTransfers(sandbox.url);
    const { report, said } = await fuzz({
      schemathesis: tools?.schemathesis ?? '',
      document: serviceDocument(sandbox.url, 'The sandbox'),
      url: sandbox.url,
      scheme: 'bearer',
      token: TOKEN,
      maxExamples: 8,
      known: { referenceId: [REFERENCE], reference_id: [REFERENCE], kycId: [REFERENCE] },
    });
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
    process.stderr.write(`schemathesis, sandbox: ${summaryOf(report)}\n`);
    if (report.failures.length > 0 || report.errors.length > 0) process.stderr.write(said);
    expect(report).toMatchObject({ complete: true, failures: [], errors: [], operations: { tested: 22 } });
    expect(report.test_cases.generated).toBeGreaterThan(1_000);
    expect(errors).toEqual([]);
    expect(neverTaken(report)).toEqual([]);
  }, 120_000);
});

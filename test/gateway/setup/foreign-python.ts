import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PACKAGE = 'standardwebhooks==1.1.0';
const cache = fileURLToPath(new URL('../../../node_modules/.cache/towline/', import.meta.url));

/** One thing for the public Python package to do. */
export type PythonOrder =
  | { readonly do: 'sign'; readonly secret: string; readonly id: string; readonly atS: number; readonly body: string }
  | { readonly do: 'verify'; readonly secret: string; readonly headers: object; readonly body: string };

const PROGRAM = `
import sys, json, datetime
from standardwebhooks.webhooks import Webhook
out = []
for order in json.load(sys.stdin):
    webhook = Webhook(order["secret"])
    if order["do"] == "sign":
        at = datetime.datetime.fromtimestamp(order["atS"], datetime.timezone.utc)
        out.append(webhook.sign(order["id"], at, order["body"]))
    else:
        try:
            webhook.verify(order["body"].encode("utf-8"), order["headers"])
            out.append("valid")
        except Exception as error:
            out.append(type(error).__name__)
json.dump(out, sys.stdout)
`;

/**
 * The public package of PyPI in its own environment, made once: a signer and verifier that shares no line with ours.
 * Undefined, with a message, if Python or pip cannot provide it; a failure in CI.
 */
export async function foreignPython(): Promise<((orders: readonly PythonOrder[]) => Promise<string[]>) | undefined> {
  const home = join(cache, PACKAGE);
  try {
    if (!existsSync(home)) await install(home);
  } catch (error) {
    if (process.env['TEST_IN_CI'] === '1') throw error;
    process.stderr.write(`SKIPPED: ${PACKAGE} cannot be installed here: ${(error as Error).message.split('\n')[0]}\n`);
    return undefined;
  }
  return async (orders) => {
    const child = spawn(join(home, 'bin', 'python'), ['-c', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(JSON.stringify(orders));
    let text = '';
    for await (const chunk of child.stdout) text += String(chunk);
    return JSON.parse(text) as string[];
  };
}

async function install(home: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, 'venv-'));
  try {
    await run('python3', ['-m', 'venv', draft], { timeout: 60_000 });
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', PACKAGE];
    await run(join(draft, 'bin', 'python'), pip, { timeout: 60_000 });
    await rename(draft, home);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another test run was faster.
    if (!existsSync(home)) throw error;
  }
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client as Postgres } from 'pg';
import type { DataConverter } from '@temporalio/common';
import { readJournal } from '../harness/journal.js';
import { canariesIn, decryptedHistory } from '../flows/cards/find-canaries.js';
import { startedFlows } from './reconcile/driver.js';
import type { Stack } from './stack.js';

/** Text that must not occur anywhere. Card data is searched as well, in every spelling (`find-canaries.ts`). */
export interface Canaries {
  /** Not even by a thief with the payload keys: tokens, secrets. */
  readonly secret: readonly string[];
  /** Nowhere in the clear: names, phone numbers, accounts. */
  readonly personal: readonly string[];
}

/** I11, once, over everything. @returns what was found, and where */
export async function scan(
  stack: Stack,
  dataConverter: DataConverter,
  canaries: Canaries,
  /** Other remains, by place. */
  texts: Readonly<Record<string, string>>,
): Promise<{ readonly found: readonly string[]; readonly read: Readonly<Record<string, number>> }> {
  const found: string[] = [];
  const read: Record<string, number> = {};
  const look = (where: string, text: string, words: readonly string[]) => {
    read[where] = (read[where] ?? 0) + text.length;
    const here = [...canariesIn(text), ...words.filter((canary) => text.includes(canary))];
    found.push(...here.map((canary) => `${canary} in ${where}`));
  };
  const all = [...canaries.secret, ...canaries.personal];

  // The list lags: flows that the driver knows of are read in any case.
  const ids = new Set(startedFlows(readJournal(stack.sources.journal)));
  const query = `TaskQueue = '${stack.taskQueue}'`;
  for await (const { workflowId } of stack.client.workflow.list({ query })) ids.add(workflowId);
  for (const workflowId of ids) {
    const handle = stack.client.workflow.getHandle(workflowId);
    look('history', bytesAsText(await handle.fetchHistory()), all);
    look('history, decrypted', await decryptedHistory(handle, dataConverter), canaries.secret);
    look('search attributes', JSON.stringify((await handle.describe()).searchAttributes), all);
  }
  for (const folder of [stack.folder, stack.settings.towlineHome]) {
    look('store and files', await filesBesideTheSandbox(folder), all);
  }
  look('store and files', await textOfDatabase(stack.sources.storePath), all);
  look('log', [...stack.workerLog, ...stack.log.map((line) => JSON.stringify(line))].join('\n'), all);
  for (const [where, text] of Object.entries(texts)) look(where, text, all);
  return { found: [...new Set(found)], read };
}

/** Payload bytes as text, too, so that base64 hides nothing. */
function bytesAsText(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(bytesAsText).join('\n');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(bytesAsText).join('\n');
  return '';
}

/** All rows of all tables, bytes as what they would read as; nothing of a store that is a file. */
async function textOfDatabase(storePath: string): Promise<string> {
  if (!storePath.startsWith('postgres:')) return '';
  const db = new Postgres({ connectionString: storePath });
  await db.connect();
  try {
    const texts: string[] = [];
    const tables = `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`;
    for (const { name } of (await db.query<{ name: string }>(tables)).rows) {
      const { rows } = await db.query<Record<string, unknown>>(`SELECT * FROM "${name}"`);
      const values = rows.flatMap((row) => Object.values(row));
      texts.push(...values.map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value))));
    }
    return texts.join('\n');
  } finally {
    await db.end();
  }
}

/** The sandbox is another party with its own books; output of an account command belongs to its caller. */
const READ_FILES = `
  const { readdirSync, readFileSync } = require('node:fs');
  for (const entry of readdirSync(process.argv[1], { recursive: true, withFileTypes: true })) {
    const path = require('node:path').join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile() && !/sandbox\\.db|\\/account\\/|webhook-secrets$/.test(path)) {
      process.stdout.write(readFileSync(path));
    }
  }`;

/** In a process of its own: closing a database's file in this one would drop SQLite's locks on it. */
async function filesBesideTheSandbox(folder: string): Promise<string> {
  const options = { encoding: 'latin1', maxBuffer: 1 << 28 } as const;
  return (await promisify(execFile)(process.execPath, ['-e', READ_FILES, folder], options)).stdout;
}

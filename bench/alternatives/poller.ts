/** A table and a job that runs every second: what many build without Temporal. In a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';
import { lookUp, send, ServiceAnswerError, type Order } from './service.js';

const EVERY_MS = 1_000;
const AT_ONCE = 10;
const MOST_ATTEMPTS = 5;

interface Row {
  readonly reference: string;
  readonly state: 'new' | 'sent';
  readonly attempts: number;
  readonly body: string;
}

const serviceUrl = process.env['SERVICE_URL'] ?? '';
const database = new Database(process.env['POLLER_DATABASE'] ?? '');
database.exec('PRAGMA busy_timeout = 5000');
const due = database.prepare("SELECT reference, state, attempts, body FROM transfers WHERE state IN ('new', 'sent')");
const setState = database.prepare('UPDATE transfers SET state = ? WHERE reference = ?');
const addAttempt = database.prepare('UPDATE transfers SET attempts = attempts + 1 WHERE reference = ?');

const stop = { asked: false };
for (const reason of ['SIGTERM', 'disconnect'] as const) process.once(reason, () => (stop.asked = true));
process.send?.({ kind: 'ready' });
while (!stop.asked) {
  const rows = due.all() as Row[];
  for (let at = 0; at < rows.length; at += AT_ONCE) await Promise.all(rows.slice(at, at + AT_ONCE).map(advance));
  await sleep(EVERY_MS);
}
database.close();
process.exit(0);

async function advance({ reference, state, attempts, body }: Row): Promise<void> {
  try {
    if (state === 'new') {
      await send(serviceUrl, JSON.parse(body) as Order);
      setState.run('sent', reference);
    } else {
      const ended = await lookUp(serviceUrl, reference);
      if (ended !== undefined) setState.run(ended, reference);
    }
  } catch (error) {
    if (!(error instanceof ServiceAnswerError)) throw error;
    if (state === 'sent') return;
    if (error.isFinal || attempts + 1 >= MOST_ATTEMPTS) setState.run('failed', reference);
    else addAttempt.run(reference);
  }
}

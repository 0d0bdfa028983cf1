/*
 * A separate process with a store: `node --import ./tools/typescript.mjs test/crash-matrix/store-child.ts PLACE NAME
 * COMMAND`. It prints one line for each guarantee that the store kept, as soon as it was kept.
 */
import { writeSync } from 'node:fs';
import { anEvent, keyring, openAt } from '../store/temporary-store.js';

const [place = '', name = '', command = ''] = process.argv.slice(2);
const say = (line: string): void => {
  writeSync(1, `${line}\n`);
};
const key = (n: number) => ({ account: 'a', operation: 'o', reference: `r${n}` });

// A file that may not grow: without a handler the signal would end the process.
process.on('SIGXFSZ', () => {});

const store = await openAt(place, { keyring });
say(`mac ${store.mac('p', 'text')}`);

switch (command) {
  case 'receive':
    for (let n = 0; ; n += 1) {
      const id = `${name}-${n}`;
      await store.inbox.receive(anEvent({ id, contentHash: id }));
      say(`received ${id}`);
    }
  case 'send':
    for (let n = 0; ; n += 1) {
      await store.claims.reserve(key(n), { owner: name, flowId: 'flow', fingerprint: 'f' });
      await store.claims.markSending(key(n), name);
      say(`sending r${n}`);
    }
  case 'race':
    await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        await store.claims.reserve(key(n), { owner: name, flowId: 'flow', fingerprint: 'f' });
        if ((await store.claims.markSending(key(n), name)) === 'sending') say(`won r${n}`);
        const event = anEvent({ id: `${name}-${n}`, contentHash: `${n}` });
        if ((await store.inbox.receive(event)).kind === 'stored') say(`stored ${n}`);
      }),
    );
    break;
  case 'fill':
    for (let n = 0; ; n += 1) {
      const id = `${name}-${n}`;
      try {
        await store.inbox.receive(anEvent({ id, contentHash: id, body: 'x'.repeat(50_000) }));
      } catch (error) {
        say(`failed ${id} ${(error as Error).name}`);
        break;
      }
      say(`received ${id}`);
    }
    break;
  default:
    say('unknown command');
}
await store.close();

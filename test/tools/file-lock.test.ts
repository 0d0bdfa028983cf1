import { access, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { takeFileLock, withFileLock } from '../../src/dev-server/file-lock.js';
import { scratchFolder } from './scratch.js';

const scratch = await scratchFolder();

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid as number;
}

describe('a file lock', () => {
  test('lets one in at a time, and calls onWait of the other', async () => {
    const path = join(scratch, 'shared.lock');
    const story: string[] = [];
    let enter = (): void => {};
    let finish = (): void => {};
    const entered = new Promise<void>((resolve) => (enter = resolve));
    const finished = new Promise<void>((resolve) => (finish = resolve));
    const first = withFileLock(path, async () => {
      story.push('first in');
      enter();
      await finished;
      story.push('first out');
    });
    await entered;
    const second = withFileLock(path, async () => void story.push('second in'), {
      onWait: () => {
        story.push('second waits');
        finish();
      },
    });
    await Promise.all([first, second]);
    expect(story).toEqual(['first in', 'second waits', 'first out', 'second in']);
  });

  test('is free again after work that failed', async () => {
    const path = join(scratch, 'failing.lock');
    const failure = new Error('of the work');
    await expect(withFileLock(path, () => Promise.reject(failure))).rejects.toBe(failure);
    await expect(access(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('is taken over at once from a process that died on this machine', async () => {
    const path = join(scratch, 'dead.lock');
    await writeFile(path, JSON.stringify({ host: hostname(), pid: await deadPid(), since: new Date().toISOString() }));
    expect(await withFileLock(path, () => Promise.resolve('in'))).toBe('in');
  });

  test('is taken over from another machine once its heartbeat has stopped', async () => {
    const path = join(scratch, 'far.lock');
    await writeFile(
      path,
      JSON.stringify({ host: 'another-container', pid: process.pid, since: new Date().toISOString() }),
    );
    const aMinuteAgo = new Date(Date.now() - 60_000);
    await utimes(path, aMinuteAgo, aMinuteAgo);
    expect(await withFileLock(path, () => Promise.resolve('in'))).toBe('in');
  });

  test('is taken over if it is from before a restart of the machine, whatever process has its id now', async () => {
    const path = join(scratch, 'restarted.lock');
    await writeFile(path, JSON.stringify({ host: hostname(), pid: process.ppid, since: '2001-01-01T00:00:00.000Z' }));
    expect(await withFileLock(path, () => Promise.resolve('in'))).toBe('in');
  });

  test('is taken over if its line was cut off, and not from a process that is writing it', async () => {
    const path = join(scratch, 'cut.lock');
    await writeFile(path, '{"pid":');
    expect(takeFileLock(path)).toEqual({ taken: false, pid: undefined });
    const aMinuteAgo = new Date(Date.now() - 60_000);
    await utimes(path, aMinuteAgo, aMinuteAgo);
    expect(await withFileLock(path, () => Promise.resolve('in'))).toBe('in');
  });

  test('stays with a process of this machine that is suspended', async () => {
    const path = join(scratch, 'stopped.lock');
    await writeFile(path, JSON.stringify({ host: hostname(), pid: process.ppid, since: new Date().toISOString() }));
    const anHourAgo = new Date(Date.now() - 3_600_000);
    await utimes(path, anHourAgo, anHourAgo);
    expect(takeFileLock(path)).toEqual({ taken: false, pid: process.ppid });
  });
});

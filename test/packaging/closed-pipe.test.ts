import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { packageRoot } from '../../src/package-root.js';
import { ensureBuilt } from './ensure-built.js';

describe('a command whose reader has had enough', () => {
  beforeAll(() => ensureBuilt());

  it('ends without a stack trace, and its exit code shows that not all output was read', async () => {
    const main = join(packageRoot(), 'tools', 'towline.mjs');
    const child = spawn(process.execPath, [main, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errors += chunk));
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ code, errors }).toEqual({ code: 1, errors: '' });
  }, 60_000);
});

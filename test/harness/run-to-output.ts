import { spawn } from 'node:child_process';

const KEPT_CHARACTERS = 4_000;

/** Runs Node with these arguments. @returns its exit code, and the end of what it wrote to either stream */
export function runToOutput(
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) =>
      resolve({ code, output: Buffer.concat(chunks).toString('utf8').slice(-KEPT_CHARACTERS) }),
    );
  });
}

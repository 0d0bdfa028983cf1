import { spawn } from 'node:child_process';

const firstNoteMs = 15_000;
const everyMs = 20_000;

/**
 * Runs a command that takes a while: prints what it is, how long it has been running, and how long it took.
 * @returns {Promise<{code: number, output: string}>}
 */
export function runStep(what, command, args, options = {}) {
  const startedAt = performance.now();
  const soFar = () => elapsed(performance.now() - startedAt);
  say(`${what} …`);
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const first = setTimeout(() => say(`${what}: ${soFar()}`), firstNoteMs);
    const every = setInterval(() => say(`${what}: ${soFar()}`), everyMs);
    const finish = (code) => {
      clearTimeout(first);
      clearInterval(every);
      if (code === 0) say(`${what}: done in ${soFar()}`);
      resolve({ code, output });
    };
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => {
      output += error.message;
      finish(127);
    });
    child.on('close', (code) => finish(code ?? 1));
  });
}

/** To stderr, so that what a command prints to stdout stays its own. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

function elapsed(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, '0')}s`;
}

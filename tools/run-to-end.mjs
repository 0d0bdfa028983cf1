import { spawn } from 'node:child_process';

const passedOn = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Runs a Node program in our place: our terminal, our signals, its exit code. */
export function runToEnd(args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit', ...options });
    const forward = (signal) => {
      // Ctrl-C reaches the whole terminal group by itself, and a second one means "at once" to many programs.
      if (signal === 'SIGINT' && [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY)) return;
      child.kill(signal);
    };
    for (const signal of passedOn) process.on(signal, forward);
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      for (const name of passedOn) process.removeListener(name, forward);
      resolve(code ?? (signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1));
    });
  });
}

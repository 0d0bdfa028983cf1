import { setTimeout as pause } from 'node:timers/promises';

/** A closed socket or an ended process is gone some turns of the event loop later. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 10;
/** jest-circus listens to these while a file runs. */
const CIRCUS_EVENTS = ['uncaughtException', 'unhandledRejection', 'rejectionHandled'];
/** Of a package that is loaded: tslib, zod. */
const isOfPackage = (name) => name.startsWith('__');
/** Of a package that pino loads, on-exit-leak-free. */
const LISTENERS_OF_PACKAGES = ['onExit', 'onBeforeExit'];
const ownListeners = (event) =>
  process.listeners(event).filter(({ name }) => !LISTENERS_OF_PACKAGES.includes(name)).length;

const countsOf = (names) => {
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

/** What there is now of what a test file may leave behind in the worker process. */
export function tracesOfFile() {
  const events = process.eventNames().filter((name) => !CIRCUS_EVENTS.includes(name));
  return {
    counts: {
      global: countsOf(Object.getOwnPropertyNames(globalThis).filter((name) => !isOfPackage(name))),
      resource: countsOf(process.getActiveResourcesInfo()),
      'listener of the process': Object.fromEntries(events.map((name) => [String(name), ownListeners(name)])),
    },
    environment: { ...process.env },
    folder: process.cwd(),
  };
}

/** Names of what there is now and was not there before the file. */
export async function leftBehind(before) {
  const startedMs = performance.now();
  for (;;) {
    const left = differences(before, tracesOfFile());
    const mayEnd = left.some((name) => name.startsWith('resource '));
    if (!mayEnd || performance.now() - startedMs > PATIENCE_MS) return left;
    await pause(PAUSE_MS);
  }
}

function differences(before, now) {
  const counted = Object.entries(now.counts).flatMap(([what, counts]) =>
    Object.entries(counts)
      .filter(([name, count]) => count > (before.counts[what][name] ?? 0))
      .map(([name]) => `${what} ${name}`),
  );
  const variables = new Set([...Object.keys(before.environment), ...Object.keys(now.environment)]);
  const changed = [...variables].filter((name) => before.environment[name] !== now.environment[name]);
  return [
    ...counted,
    ...changed.map((name) => `environment variable ${name}`),
    ...(before.folder === now.folder ? [] : ['another folder of the process']),
  ];
}

import { mkdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import type { Log } from './run-command.js';
import { withFileLock } from './file-lock.js';
import { anyFreePort, isPortFree, nextFreePort } from './free-port.js';
import { startGuarded } from './guarded-process.js';
import { lastLines } from './run-command.js';
import { ensureSearchAttributes, type SearchAttributes } from './search-attributes.js';
import { readServerOfHome, runningServerOfHome, writeServerOfHome } from './server-of-home.js';

export interface DevServerOptions {
  /** The `temporal` binary, as `findServerExecutable` found it. */
  executable: string;
  /** The folder for its log, `temporal.log`. Made when missing. */
  home: string;
  /** A port that must be this one; 0 for any free one. @default that of the last start with this `dbFile`, else 7233; or the next free one */
  port?: number;
  /** A port that must be this one; `false` for no UI. @default that of the last start with this `dbFile`, else 8233; or the next free one */
  uiPort?: number | false;
  /** File for its state. @default nothing is kept */
  dbFile?: string;
  /** Search attributes to register, name to type: `{TowlineState: 'Keyword'}`. */
  searchAttributes: SearchAttributes;
  /** URL at which the UI decodes payloads: `http://127.0.0.1:8400/codec`. */
  codecEndpoint?: string;
  log: Log;
}

export interface DevServer {
  /** For `TEMPORAL_ADDRESS`: `127.0.0.1:7233`. */
  address: string;
  /** Undefined if there is none. */
  uiUrl: string | undefined;
  pid: number;
  /** Resolves when the server is gone, whether stopped or not. */
  ended: Promise<number | NodeJS.Signals>;
  /** Ends the server; resolves when it is gone. */
  stop(): Promise<void>;
}

/** Thrown when our Temporal server does not start; the message ends with the last lines of its log. */
export class DevServerError extends Error {
  override readonly name = 'DevServerError';
  readonly code: 'database-in-use' | 'not-ready' | 'port-taken' | 'ports-taken';

  constructor(code: DevServerError['code'], sentence: string) {
    super(sentence);
    this.code = code;
  }
}

const defaultPort = 7233;
const defaultUiPort = 8233;
const readyWithinMs = 60_000;
/** A server whose Towline was killed ends within this time. */
const ownerPatienceMs = 5_000;
/** Another program may take a port between our check and the server's start. */
const startAttempts = 3;

/**
 * Starts a Temporal dev server and waits until it answers.
 * @throws DevServerError
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  await mkdir(options.home, { recursive: true });
  if (options.dbFile) await assertNotInUse(options.dbFile);
  for (let attempt = 1; attempt <= startAttempts; attempt++) {
    // One at a time on this machine: two processes that choose the same free port would each take the other's server
    // for their own, and two homes with different keys would share it.
    const server = await withFileLock(startLock(), () => tryToStart(options));
    if (server !== 'port taken') return server;
  }
  throw new DevServerError(
    'ports-taken',
    'The free ports for the Temporal server were taken again and again. Start it once more.',
  );
}

function startLock(): string {
  return join(tmpdir(), `towline-dev-server-${process.getuid?.() ?? 0}.lock`);
}

async function assertNotInUse(dbFile: string): Promise<void> {
  const owner = await currentOwner(dbFile, ownerPatienceMs);
  if (!owner) return;
  throw new DevServerError(
    'database-in-use',
    `The Temporal database ${dbFile} is in use by process ${owner.pid}. ` +
      'Stop the Towline that runs there, or set TOWLINE_HOME to another folder.',
  );
}

async function tryToStart(options: DevServerOptions): Promise<DevServer | 'port taken'> {
  const { dbFile, home, log } = options;
  const last = dbFile === undefined ? undefined : await readServerOfHome(dbFile);
  const port = await choosePort('Temporal server', options.port, last?.port ?? defaultPort, [], log);
  const firstUiPort = last?.uiPort ?? defaultUiPort;
  const uiPort =
    options.uiPort === false ? undefined : await choosePort('Temporal UI', options.uiPort, firstUiPort, [port], log);
  const logFile = join(home, 'temporal.log');
  const address = `127.0.0.1:${port}`;

  const server = await startGuarded(options.executable, devServerArguments({ ...options, port, uiPort }), logFile);
  const ports = { port, ...(uiPort === undefined ? {} : { uiPort }) };
  if (dbFile) await writeServerOfHome(dbFile, { pid: server.pid, ...ports });
  const ended = server.ended.then(async (how) => {
    // Tells nobody any more if the home was removed meanwhile.
    if (dbFile) await writeServerOfHome(dbFile, ports).catch(() => undefined);
    return how;
  });

  const trouble = await troubleAtStart(address, options.searchAttributes, ended);
  if (trouble === undefined) {
    const uiUrl = uiPort === undefined ? undefined : `http://127.0.0.1:${uiPort}`;
    const stop = async () => {
      await server.stop();
      await ended;
    };
    return { address, uiUrl, pid: server.pid, ended, stop };
  }
  await server.stop();
  const output = await readFile(logFile, 'utf8');
  const mayChooseAgain = !options.port || options.uiPort === undefined;
  // Anywhere in it: a stack of many lines follows.
  if (mayChooseAgain && output.includes('address already in use')) return 'port taken';
  throw new DevServerError(
    'not-ready',
    `The Temporal server ${trouble}. The end of its log, ${logFile}:\n${lastLines(output)}`,
  );
}

async function troubleAtStart(
  address: string,
  searchAttributes: SearchAttributes,
  ended: DevServer['ended'],
): Promise<string | undefined> {
  const giveUp = new AbortController();
  const patience = setTimeout(() => giveUp.abort(), readyWithinMs);
  const ready = untilServerReady(address, searchAttributes, giveUp.signal).then((isReady) =>
    isReady ? undefined : `did not answer within ${readyWithinMs / 1000} s`,
  );
  const died = ended.then((how) => `ended at its start (${how})`);
  try {
    return await Promise.race([ready, died]);
  } finally {
    clearTimeout(patience);
    giveUp.abort();
  }
}

async function choosePort(
  what: string,
  wanted: number | undefined,
  first: number,
  except: readonly number[],
  log: Log,
): Promise<number> {
  if (wanted !== undefined) {
    if (wanted === 0) return anyFreePort();
    if (await isPortFree(wanted)) return wanted;
    throw new DevServerError(
      'port-taken',
      `Port ${wanted}, wanted for the ${what}, is taken. Stop what listens there, or name another.`,
    );
  }
  const port = await nextFreePort(first, except);
  if (port !== first) log(`port ${first} is taken: the ${what} takes ${port}`);
  return port;
}

/** With the default rate of 20 polls per second every task waits about 45 ms for its dispatch. */
const dispatchAtOnce = ['transferProcessorMaxPollRPS', 'timerProcessorMaxPollRPS', 'visibilityProcessorMaxPollRPS'];

const dynamicConfig: Readonly<Record<string, string | number | boolean>> = {
  ...Object.fromEntries(dispatchAtOnce.map((name) => [`history.${name}`, 1_000])),
  'system.enableActivityEagerExecution': true,
  'system.enableEagerWorkflowStart': true,
};

/** Halves the server's CPU. A machine that loses power may lose the last moments; a process that dies does not. */
const sqlitePragmas: Readonly<Record<string, string>> = { journal_mode: 'WAL', synchronous: 'NORMAL' };

interface Ports {
  port: number;
  uiPort: number | undefined;
}

export function devServerArguments({
  port,
  uiPort,
  dbFile,
  searchAttributes,
  codecEndpoint,
}: Pick<DevServerOptions, 'dbFile' | 'searchAttributes' | 'codecEndpoint'> & Ports): string[] {
  const fixed = ['server', 'start-dev', '--ip', '127.0.0.1', '--log-level', 'warn', '--color', 'never'];
  return [
    ...fixed,
    '--port',
    String(port),
    ...(uiPort === undefined ? ['--headless'] : ['--ui-port', String(uiPort)]),
    ...(codecEndpoint === undefined ? [] : ['--ui-codec-endpoint', codecEndpoint]),
    ...(dbFile === undefined ? [] : ['--db-filename', dbFile, ...repeated('--sqlite-pragma', sqlitePragmas)]),
    ...repeated('--dynamic-config-value', dynamicConfig),
    ...repeated('--search-attribute', searchAttributes),
  ];
}

function repeated(flag: string, values: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${value}`]);
}

const pollMs = 100;

/**
 * Waits for the server that uses this database to end, since one whose Towline was killed needs a moment.
 * @returns the server that still uses it after `patienceMs`
 */
async function currentOwner(dbFile: string, patienceMs: number): Promise<{ readonly pid: number } | undefined> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const owner = await runningServerOfHome(dbFile);
    if (!owner || performance.now() > deadline) return owner;
    await sleep(pollMs);
  }
}

const readyPollMs = 25;
const namespace = 'default';

/**
 * Waits until the server at `address` has a namespace with these search attributes, which is later than the opening of
 * its port. They are registered here, because an existing database keeps those of its first start.
 * @returns false if `signal` came first
 */
async function untilServerReady(
  address: string,
  searchAttributes: SearchAttributes,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    // A gRPC channel that was refused waits a second before it tries again; a bare socket can try at once.
    if ((await isListening(address)) && (await answers(address, searchAttributes))) return true;
    await sleep(readyPollMs);
  }
  return false;
}

function isListening(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host: host ?? '127.0.0.1', port: Number(port) });
    const finish = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

async function answers(address: string, searchAttributes: SearchAttributes): Promise<boolean> {
  let connection: Connection | undefined;
  try {
    connection = await Connection.connect({ address, connectTimeout: 1_000 });
    await connection.workflowService.describeNamespace({ namespace });
    await ensureSearchAttributes(connection, namespace, searchAttributes);
    return true;
  } catch {
    return false;
  } finally {
    await connection?.close();
  }
}

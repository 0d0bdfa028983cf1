import type { DevServerOptions } from './dev-server.js';

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

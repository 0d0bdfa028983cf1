import { pino, type DestinationStream, type Logger } from 'pino';
import pinoPretty from 'pino-pretty';
import type { Settings } from '../../config/index.js';
import { createGatewayLogger } from '../../gateway/index.js';
import type { ProcessName } from '../process/process-name.js';

/** One line of JSON for each entry; on a terminal, lines for people. */
export function createProcessLogger(
  name: ProcessName,
  settings: Pick<Settings, 'logLevel'>,
  isTerminal: boolean,
): Logger {
  const destination = isTerminal ? forPeople() : undefined;
  if (name === 'gateway') return createGatewayLogger(settings, destination);
  const options = { name, level: settings.logLevel };
  return destination === undefined ? pino(options) : pino(options, destination);
}

function forPeople(): DestinationStream {
  return pinoPretty({ colorize: true, ignore: 'pid,hostname', translateTime: 'HH:MM:ss', sync: true });
}

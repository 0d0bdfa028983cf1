import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import type { Settings } from '../config/settings-shape.js';

export { GatewayPortTakenError } from './http/server.js';
export type { ServeCards } from './cards/card-intake.js';
export { startGateway, type Gateway } from './app.js';
export { createCapabilities, inboundUrls } from './inbound/capabilities.js';
export { createWorkMetrics } from './ops/work-metrics.js';
export type { GatewayOptions } from './parts.js';
export type { ServiceAccess } from './proxy/deps.js';

/**
 * The gateway's log. Its lines are built from an allow-list (`errorForLog`, route patterns); the redaction is a second
 * safety net, for what a later line might contain.
 *
 * @param mixin adds to each line @default nothing
 */
export function createGatewayLogger(
  settings: Pick<Settings, 'logLevel'>,
  destination?: DestinationStream,
  monotonicMs: () => number = () => performance.now(),
  mixin: (line: object) => object = () => ({}),
): Logger {
  const options: LoggerOptions = {
    mixin,
    name: 'gateway',
    level: settings.logLevel,
    hooks: { logMethod: limitLines(monotonicMs) },
    redact: {
      paths: ['authorization', 'capability', 'secret', 'token', 'body', 'headers', 'url'].flatMap((name) => [
        name,
        `*.${name}`,
      ]),
      censor: '[redacted]',
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}

const MOST_LINES_A_SECOND = 20;
/** As pino counts levels. */
const WARN = 40;

/**
 * Limits lines with the same sentence, from `warn` up: callers who cause 503s, or an outage of the store, must not fill
 * the disk with them. Suppressed lines are counted, and the next line of that sentence has the count. Alarms are all
 * written.
 */
function limitLines(monotonicMs: () => number): NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']> {
  const seconds = new Map<string, { readonly sinceMs: number; lines: number; leftOut: number }>();
  return function logMethod(args, method, level) {
    const [members, sentence] = args as [unknown, unknown];
    const isPlain = typeof members === 'object' && members !== null && !('alarm' in members);
    if (level < WARN || typeof sentence !== 'string' || !isPlain) return method.apply(this, args);
    const nowMs = monotonicMs();
    const last = seconds.get(sentence);
    if (last !== undefined && nowMs - last.sinceMs < 1_000 && last.lines >= MOST_LINES_A_SECOND) {
      last.leftOut += 1;
      return undefined;
    }
    const isSame = last !== undefined && nowMs - last.sinceMs < 1_000;
    const { leftOut = 0 } = last ?? {};
    seconds.set(sentence, { sinceMs: isSame ? last.sinceMs : nowMs, lines: (isSame ? last.lines : 0) + 1, leftOut: 0 });
    if (leftOut === 0) return method.apply(this, args);
    return method.apply(this, [{ ...members, leftOut }, sentence]);
  };
}

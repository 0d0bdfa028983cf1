import { type DestinationStream, type Logger, pino } from 'pino';
import type { Settings } from '../config/settings-shape.js';

export { GatewayPortTakenError } from './http/server.js';
export type { ServeCards } from './cards/card-intake.js';
export { createCapabilities, inboundUrls } from './inbound/capabilities.js';
export { createWorkMetrics } from './ops/work-metrics.js';
export type { ServiceAccess } from './proxy/deps.js';
export { startGateway, type Gateway, type GatewayOptions } from './start-gateway.js';

/**
 * The gateway's log. Its lines are built from an allow-list (`errorForLog`, route patterns); the redaction is the second
 * net, for what a later line might bring along.
 */
export function createGatewayLogger(settings: Pick<Settings, 'logLevel'>, destination?: DestinationStream): Logger {
  const options = {
    name: 'gateway',
    level: settings.logLevel,
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

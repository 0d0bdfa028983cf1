export const silentLogger: SandboxLogger = { info() {}, warn() {}, error() {} };

/** The sandbox's log. A pino logger fits. */
export interface SandboxLogger {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

import { CliError } from '../cli-error.js';
import { EXIT } from '../exit-codes.js';

/** Nobody answers at the gateway's address, or what answers is broken. */
export class GatewayUnreachableError extends CliError {
  override readonly name = 'GatewayUnreachableError';

  constructor(url: string) {
    super(`The gateway at ${url} cannot be reached: start it (towline up), or set GATEWAY_URL.`, EXIT.unreachable);
  }
}

/** The gateway can do nothing for now: its store, Temporal, or every worker is away. */
export class GatewayUnavailableError extends CliError {
  override readonly name = 'GatewayUnavailableError';

  constructor(status: number, message: string) {
    super(`The gateway answers ${status}: ${message}`, EXIT.unreachable);
  }
}

/** The gateway refused the request. */
export class GatewayRefusedError extends CliError {
  override readonly name = 'GatewayRefusedError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

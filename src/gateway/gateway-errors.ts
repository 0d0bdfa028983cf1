/** The gateway's port belongs to another program (or to another gateway). */
export class GatewayPortTakenError extends Error {
  override readonly name = 'GatewayPortTakenError';
  readonly port: number;

  constructor(port: number, host: string) {
    super(`Port ${port} on ${host} is taken: stop what listens there, or set GATEWAY_PORT to another port.`);
    this.port = port;
  }
}

import { createServer } from 'node:net';
import type { Settings } from '../../config/index.js';
import { GatewayPortTakenError } from '../../gateway/gateway-errors.js';
import { CliError } from '../cli-error.js';
import { sandboxPortTaken } from '../commands/sandbox.js';

type PortSettings = Pick<Settings, 'gatewayHost' | 'gatewayPort' | 'sandboxHost' | 'sandboxPort' | 'serviceIsSandbox'>;

/**
 * Asked before anything is started, so that a taken port is said at once.
 * @throws GatewayPortTakenError, CliError
 */
export async function assertPortsFree(settings: PortSettings): Promise<void> {
  const { gatewayHost, gatewayPort, sandboxHost, sandboxPort } = settings;
  if (await isTaken(gatewayPort, gatewayHost)) throw new GatewayPortTakenError(gatewayPort, gatewayHost);
  if (settings.serviceIsSandbox && (await isTaken(sandboxPort, sandboxHost))) {
    throw new CliError(sandboxPortTaken(sandboxPort, sandboxHost));
  }
}

/** Whatever else is wrong with an address is told by the process that is to listen there. */
function isTaken(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'EADDRINUSE'));
    probe.listen({ port, host }, () => probe.close(() => resolve(false)));
  });
}

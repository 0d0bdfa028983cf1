export { GatewayPortTakenError } from './gateway-errors.js';
export type { CardWorker, ServeCards } from './cards/card-desk.js';
export { createGatewayLogger } from './logger.js';
export { createCapabilities, inboundUrls, type Capabilities } from './inbound/capabilities.js';
export { startGateway, type Gateway, type GatewayOptions } from './start-gateway.js';

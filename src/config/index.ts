export { readEnvironment, type Environment } from './environment.js';
export type { DuplicateReference, DuplicateReferenceRule } from './duplicate-reference.js';
export { DEVELOPMENT_TOKEN, type GatewayToken, type TokenRole } from './gateway-tokens.js';
export { isLoopback } from './loopback.js';
export { createNetworkList, type NetworkList } from './networks.js';
export { SettingsError } from './settings-error.js';
export type { LogLevel, Settings, SettlementTrust, WebhookProfile } from './settings-shape.js';
export { DEVELOPMENT_SERVICE_TOKEN, readSettings } from './settings.js';

export { bridgeTransfer } from './bridge-transfer.js';

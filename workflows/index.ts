export { bridgeTransfer } from './bridge-transfer.js';
export { cryptoSend } from './crypto-send.js';

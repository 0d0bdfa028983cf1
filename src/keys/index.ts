export { ExposedKeyFileError, InvalidKeysError, SealBrokenError, UnknownKeyError } from './keyring.js';
export { loadOrMakeKeyring } from './key-file.js';
export { createKeyring, parseKeyring, type Keyring, type PayloadKey } from './keyring.js';
export { open, seal } from './seal.js';

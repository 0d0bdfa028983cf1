export { ExposedKeyFileError, InvalidKeysError, SealBrokenError, UnknownKeyError } from './key-errors.js';
export { loadOrMakeKeyring } from './key-file.js';
export { createKeyring, parseKeyring, type Keyring, type PayloadKey } from './keyring.js';
export { open, seal } from './seal.js';

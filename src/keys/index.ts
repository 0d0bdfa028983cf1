export { ExposedKeyFileError, InvalidKeysError, SealBrokenError, UnknownKeyError } from './keyring.js';
export { loadOrMakeKeyring, makePrivateFile } from './key-file.js';
export { createKeyring, parseKeyring, type Keyring, type PayloadKey } from './keyring.js';
export { keyIdOf, LONGEST_HEAD, open, seal } from './seal.js';

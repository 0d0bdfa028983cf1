/** The payload keys that were given cannot be used. The message never holds a key. */
export class InvalidKeysError extends Error {
  override readonly name = 'InvalidKeysError';
}

/** The key file can be read by others than its owner: its keys count as known to them. */
export class ExposedKeyFileError extends Error {
  override readonly name = 'ExposedKeyFileError';

  readonly path: string;

  constructor(path: string) {
    super(`Others can read the key file ${path}. Run "chmod 600 ${path}", or remove it where its keys may have leaked`);
    this.path = path;
  }
}

/** Sealed under a key that this process was not given, such as a retired one. */
export class UnknownKeyError extends Error {
  override readonly name = 'UnknownKeyError';

  readonly keyId: string;

  constructor(keyId: string) {
    super(`No payload key has the id ${keyId}`);
    this.keyId = keyId;
  }
}

/** Not sealed by us, sealed for another place, or changed since. */
export class SealBrokenError extends Error {
  override readonly name = 'SealBrokenError';

  constructor() {
    super('The seal is broken');
  }
}

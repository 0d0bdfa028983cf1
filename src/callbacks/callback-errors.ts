/** The receiver could not be asked, or said nothing that we could read: try again. Names no path, no query, no address. */
export class CallbackUnreachableError extends Error {
  override readonly name = 'CallbackUnreachableError';
}

/** The URL leads, now, to where callbacks must not go. No connection was made. */
export class CallbackRefusedError extends Error {
  override readonly name = 'CallbackRefusedError';
}

/** `CALLBACK_SECRETS` is not set: nothing is sent unsigned. */
export class NoCallbackSecretError extends Error {
  override readonly name = 'NoCallbackSecretError';

  constructor() {
    super('CALLBACK_SECRETS is not set on this worker, and callbacks are never sent unsigned.');
  }
}

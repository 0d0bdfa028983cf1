import { open } from 'node:fs/promises';

const MAX_TOKEN_BYTES = 16_384;
const VISIBLE_ASCII = /^[\x21-\x7e]+$/;

/** The token file cannot be used. The message is one sentence that says what to do; it never holds the token. */
export class TokenFileError extends Error {
  override readonly name = 'TokenFileError';
}

export interface TokenSource {
  /** The token to send now. Throws TokenFileError. */
  token(): Promise<string>;
  /**
   * The service refused `rejected`: reads the file again, once for everybody who asks meanwhile, and not at all where a
   * newer token is known already. Throws TokenFileError, and then the old token stays.
   */
  refresh(rejected?: string): Promise<void>;
}

/** A fixed token (`SERVICE_TOKEN`), or a file that only its owner can read (`SERVICE_TOKEN_FILE`), which may rotate. */
export function createTokenSource(from: { readonly token: string } | { readonly tokenFile: string }): TokenSource {
  if ('token' in from) {
    const { token } = from;
    if (!VISIBLE_ASCII.test(token)) throw new TypeError('The service token must be visible ASCII without spaces.');
    return { token: () => Promise.resolve(token), refresh: () => Promise.resolve() };
  }
  let current: string | undefined;
  let reading: Promise<string> | undefined;
  const read = (): Promise<string> => {
    reading ??= readTokenFile(from.tokenFile)
      .then((token) => (current = token))
      .finally(() => (reading = undefined));
    return reading;
  };
  return {
    token: async () => current ?? (await read()),
    refresh: async (rejected) => {
      if (rejected === undefined || rejected === current) await read();
    },
  };
}

async function readTokenFile(path: string): Promise<string> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new TokenFileError(`The token file ${path} cannot be opened (${error.code ?? 'unknown error'}).`);
  });
  try {
    const { mode, size } = await file.stat();
    // Windows has no such modes: every file reads as 0666 there.
    if (process.platform !== 'win32' && (mode & 0o177) !== 0) {
      throw new TokenFileError(`The token file ${path} can be read by others: run chmod 600 on it.`);
    }
    if (size > MAX_TOKEN_BYTES) throw new TokenFileError(`The token file ${path} is too large to be a token.`);
    const token = (await file.readFile('utf8')).trim();
    if (!VISIBLE_ASCII.test(token)) {
      throw new TokenFileError(`The token file ${path} must hold one token, in visible ASCII without spaces.`);
    }
    return token;
  } finally {
    await file.close();
  }
}

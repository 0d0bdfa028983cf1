import { randomBytes } from 'node:crypto';
import { link, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ExposedKeyFileError, InvalidKeysError, parseKeyring, type Keyring } from './keyring.js';

/**
 * The payload keys of development: `<homeFolder>/keys` (mode 0600), made at first use.
 *
 * @throws ExposedKeyFileError if others can read the file
 * @throws InvalidKeysError if the file does not hold keys
 */
export async function loadOrMakeKeyring(homeFolder: string): Promise<Keyring> {
  const path = join(homeFolder, 'keys');
  const text = (await read(path)) ?? (await make(homeFolder, path));
  return parseKeyring(text);
}

async function read(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new InvalidKeysError(`The key file ${path} cannot be opened (${error.code ?? 'unknown error'})`);
  });
  if (file === undefined) return undefined;
  try {
    // Checks the mode of the opened file, not of the path, which could be swapped in between.
    const { mode } = await file.stat();
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) throw new ExposedKeyFileError(path);
    return (await file.readFile('utf8')).trim().replaceAll('\n', ',');
  } finally {
    await file.close();
  }
}

async function make(homeFolder: string, path: string): Promise<string> {
  await mkdir(homeFolder, { recursive: true, mode: 0o700 });
  await makePrivateFile(path, `dev-${randomBytes(4).toString('hex')}:${randomBytes(32).toString('base64')}\n`);
  const text = await read(path);
  if (text === undefined) throw new InvalidKeysError(`The key file ${path} vanished while it was made`);
  return text;
}

/**
 * Makes a file (mode 0600) durably, unless it exists. Written to a temporary file and linked into place: `link` never
 * replaces a file, so if two processes start at once, one wins, and both read the winner's file.
 */
export async function makePrivateFile(path: string, content: string): Promise<void> {
  const draft = `${path}.${randomBytes(8).toString('hex')}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await unlink(draft);
  await syncFolder(dirname(path));
}

/** Without it, a power cut could lose the name of the file, and with it everything sealed since. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

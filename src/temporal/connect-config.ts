import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isDeepStrictEqual } from 'node:util';
import { loadClientConnectConfig, type ClientConnectConfig } from '@temporalio/envconfig';
import { readSecretFile, SecretFileError } from '../config/secret-files.js';

type Variables = Readonly<Record<string, string>>;

/** `TEMPORAL_*` cannot be used. One sentence that says what to do, without any content of the files that it names. */
export class TemporalSettingsError extends Error {
  override readonly name = 'TemporalSettingsError';
  readonly code: 'file-unreadable' | 'no-address' | 'no-config-file' | 'no-profile' | 'tls-files';

  constructor(code: TemporalSettingsError['code'], sentence: string) {
    super(sentence);
    this.code = code;
  }
}

/** The SDK without an address takes port 7233 of this machine, whoever listens there. @throws TemporalSettingsError */
export function addressOf({ connectionOptions: { address } }: ClientConnectConfig): string {
  if (address !== undefined) return address;
  throw new TemporalSettingsError(
    'no-address',
    'No Temporal server of TOWLINE_HOME runs: start it (towline up), or set TEMPORAL_ADDRESS to another one.',
  );
}

/**
 * What the `TEMPORAL_*` variables say, with the profile, certificates and API key that they name.
 *
 * @throws TemporalSettingsError SecretFileError
 */
export function readConnectConfig(variables: Variables): ClientConnectConfig {
  const keyFile = variables['TEMPORAL_API_KEY_FILE'];
  const apiKey =
    keyFile === undefined ? {} : { TEMPORAL_API_KEY: readSecretFile('TEMPORAL_API_KEY', resolve(keyFile)) };
  try {
    return loadClientConnectConfig({ overrideEnvVars: { ...variables, ...apiKey } });
  } catch (error) {
    throw settingsError(error as NodeJS.ErrnoException, variables);
  }
}

/** The SDK's own message may quote the file, with an API key in it. */
function settingsError({ code, path }: NodeJS.ErrnoException, variables: Variables): TemporalSettingsError {
  const { TEMPORAL_PROFILE: profile, TEMPORAL_CONFIG_FILE: file } = variables;
  if (path !== undefined) {
    return new TemporalSettingsError(
      'file-unreadable',
      `TEMPORAL_*: ${path} cannot be read (${code ?? 'unknown error'}).`,
    );
  }
  if (file === undefined) {
    return new TemporalSettingsError(
      'no-config-file',
      `TEMPORAL_PROFILE is ${profile ?? ''}: name its file in TEMPORAL_CONFIG_FILE.`,
    );
  }
  return new TemporalSettingsError(
    'no-profile',
    `TEMPORAL_CONFIG_FILE: ${file} is no TOML, or has no profile ${profile ?? 'default'}.`,
  );
}

/** The connection's options as they are now: the same object while nothing has changed. */
export type LiveOptions = () => ClientConnectConfig['connectionOptions'];

const READ_EVERY_MS = 1_000;

/**
 * Follows the credentials, which are replaced while processes run: certificates, private key and API key are read again
 * when they are asked for, at most once a second. Address and namespace stay those of the start.
 *
 * @param onBroken called with the error when the files cannot be used any more; the last good ones stay
 * @throws TemporalSettingsError SecretFileError
 */
export function followConnectConfig(
  variables: Variables,
  onBroken: (error: TemporalSettingsError | SecretFileError) => void = () => undefined,
): { readonly namespace: string | undefined; readonly options: LiveOptions } {
  const config = readConnectConfig(variables);
  addressOf(config);
  const { namespace, connectionOptions } = config;
  requireUsable(connectionOptions);
  let options = connectionOptions;
  let readAtMs = performance.now();
  let broken: string | undefined;
  return {
    namespace,
    options() {
      if (performance.now() - readAtMs < READ_EVERY_MS) return options;
      readAtMs = performance.now();
      try {
        const { tls, apiKey } = readConnectConfig(variables).connectionOptions;
        const read = { ...connectionOptions, tls, apiKey } as typeof options;
        if (!isDeepStrictEqual(read, options)) {
          requireUsable(read);
          options = read;
        }
        broken = undefined;
      } catch (error) {
        if (!(error instanceof TemporalSettingsError || error instanceof SecretFileError)) throw error;
        if (error.message !== broken) onBroken(error);
        broken = error.message;
      }
      return options;
    },
  };
}

/** Files are replaced one after the other: in between, a certificate and a private key do not belong together. */
function requireUsable({ tls }: ClientConnectConfig['connectionOptions']): void {
  if (typeof tls !== 'object' || tls === null) return;
  try {
    createSecureContext(certificatesOf(tls));
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new TemporalSettingsError(
      'tls-files',
      `The TLS files of TEMPORAL_* are not PEM, or certificate and private key do not belong together (${code}).`,
    );
  }
}

/** For TLS in Node; a CA that is not given is one that Node knows. */
export function certificatesOf(tls: NonNullable<ClientConnectConfig['connectionOptions']['tls']>) {
  const { clientCertPair: pair, serverRootCACertificate: ca } = typeof tls === 'object' ? tls : {};
  return {
    ...(ca == null ? {} : { ca: Buffer.from(ca) }),
    ...(pair == null ? {} : { cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) }),
  };
}
